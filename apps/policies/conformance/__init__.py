"""COMPARES: recorded vectors of OpenClaw with the engine's own answers, for `manage.py conformance`.

Here live the reader of vector files, the rules of comparison and one adapter an area: an input goes in, a public
function of the firewall answers, its result comes out in the shape of the recording. No rule of the engine lives here,
no row of the database is read. May import the firewall only.
"""
