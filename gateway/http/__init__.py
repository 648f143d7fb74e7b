"""The gateway's HTTP side.

server    the application, its routes and its two ports
api       the JSON API
admin     what operators may do
socket    the way into a WebSocket
guard     limits by address, errors as JSON, safe headers
static    the web client's files
errors    refusals as HTTP answers
"""
