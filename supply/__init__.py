"""What this software is made of: `python -m supply audit|licences|sbom`.

lock       the locked releases, with their hashes
audit      known vulnerabilities of them, as the package index tells them
licences   under what terms each installed one comes
sbom       all of it as a bill of materials (CycloneDX)
"""
