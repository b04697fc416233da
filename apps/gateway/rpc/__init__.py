"""OpenClaw's names for approvals, over HTTP and over a socket: one table of methods, two ways to call them.

- `methods`: what each name does; `asking`: what a program asks for; `shown`: what it is told.
- `http`: `POST /api/v1/rpc/<name>`; `socket`: `wss …/api/v1/rpc`.

May import what `apps.gateway.runtime_api` may.
"""
