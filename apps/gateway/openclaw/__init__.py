"""OpenClaw Gateways at this door: each asks before a call, waits for us and for people, and reports after it.

- `asking`: the question, and waiting for its answer; `reporting`: outcomes, and calls that were never asked about;
- `presence`: enrolment and heartbeats; `telling`: fills the port that runs what a gateway runs;
- `reading`: what gateways send, read once.

Here is no policy: calls take the stages of `apps.firewall.runtime` like all others.
"""
