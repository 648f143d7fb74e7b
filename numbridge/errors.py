"""One refusal, from the rule that was broken to the client's `error`.

    Rejected            a request was refused: reason for programs, sentence for people
    Moved               this worker does not own the shard: look the owner up again
    Unavailable         something needed is away for the moment; nothing was lost

`to_proto` and `from_proto` are the only places that map reasons to the wire.
"""

from enum import StrEnum

import grpc

from numbridge.v1 import common_pb2 as pb


class Reason(StrEnum):
    """The client protocol's error codes, and `moved`, which stays inside the cluster."""

    BAD_MESSAGE = "bad_message"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    LIMIT = "limit"
    BAD_SEEK = "bad_seek"
    GONE = "gone"
    NOT_YOUR_TURN = "not_your_turn"
    STALE = "stale"
    ILLEGAL = "illegal"
    OVER = "over"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    MOVED = "moved"


class Rejected(Exception):
    """A request was refused and changed nothing."""

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        version: int | None = None,
        retry_ms: int | None = None,
        ply: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.version = version
        self.retry_ms = retry_ms
        self.ply = ply


def moved() -> Rejected:
    """The refusal of a worker that does not own the shard."""
    return Rejected(Reason.MOVED, "the table is at another worker")


def unavailable(what: str) -> Rejected:
    """The refusal while `what` is away."""
    return Rejected(Reason.UNAVAILABLE, f"{what} can't be reached just now; nothing was lost, try again")


_TO_PROTO: dict[Reason, pb.RejectReason.ValueType] = {
    reason: pb.RejectReason.Value(f"REJECT_REASON_{reason.name}") for reason in Reason
}
_FROM_PROTO = {number: reason for reason, number in _TO_PROTO.items()}

_TO_STATUS: dict[Reason, grpc.StatusCode] = {
    Reason.BAD_MESSAGE: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.UNAUTHORIZED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.FORBIDDEN: grpc.StatusCode.PERMISSION_DENIED,
    Reason.NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Reason.LIMIT: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.BAD_SEEK: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.GONE: grpc.StatusCode.ABORTED,
    Reason.NOT_YOUR_TURN: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.STALE: grpc.StatusCode.ABORTED,
    Reason.ILLEGAL: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.OVER: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.INTERNAL: grpc.StatusCode.INTERNAL,
    Reason.MOVED: grpc.StatusCode.FAILED_PRECONDITION,
}


def to_proto(rejected: Rejected) -> pb.Reject:
    """The refusal as the cluster's services pass it on."""
    return pb.Reject(
        reason=_TO_PROTO[rejected.reason],
        message=rejected.message,
        version=rejected.version,
        retry_ms=rejected.retry_ms,
        ply=rejected.ply,
    )


def from_proto(reject: pb.Reject) -> Rejected:
    """The refusal that a service passed on; an unknown reason (a newer peer's) reads as internal."""
    return Rejected(
        _FROM_PROTO.get(reject.reason, Reason.INTERNAL),
        reject.message,
        version=reject.version if reject.HasField("version") else None,
        retry_ms=reject.retry_ms if reject.HasField("retry_ms") else None,
        ply=reject.ply if reject.HasField("ply") else None,
    )


def status_of(reason: Reason) -> grpc.StatusCode:
    """The gRPC status that a refused unary call ends with."""
    return _TO_STATUS[reason]
