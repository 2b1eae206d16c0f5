"""What client and service both state, each for itself because neither may import the other: they agree."""

from __future__ import annotations

import re

from harness.client import answers, boards, connection, pending, refusals, submitting, tokens
from harness.service import accepting, documents, job, received, teams
from harness.service.errors import RefusedError
from harness.service.posting import MAX_BYTES
from harness.service.server import make_app
from harness.store.ids import new_record_id


def parameter(schema, path, method, name):
    return next(item["schema"] for item in schema["paths"][path][method]["parameters"] if item["name"] == name)


def test_words_numbers_and_forms_agree(live):
    schema = make_app(live.service).openapi()
    assert (answers.QUEUED, answers.DONE) == (job.QUEUED, job.DONE)
    assert submitting.FORMAT == received.FORMAT
    body = schema["paths"]["/api/v1/submissions"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["format"] == {"const": received.FORMAT}
    assert set(body["properties"]) == {"format", "files", *received._FIELDS}
    key = parameter(schema, "/api/v1/submissions", "post", "Idempotency-Key")["pattern"]
    assert key == f"^{accepting._KEY.pattern}$"
    assert re.fullmatch(key, pending.new_key())
    assert parameter(schema, "/api/v1/queue", "get", "limit")["maximum"] == boards.MAX_QUEUE <= answers.MAX_ROWS
    assert parameter(schema, "/api/v1/records", "get", "limit")["maximum"] >= submitting.LOOKED_AT
    assert answers._ID.fullmatch(new_record_id())
    assert RefusedError(403, "frozen", "").document["type"] == f"{refusals.PREFIX}frozen"
    assert MAX_BYTES < connection.MAX_BYTES, "what may be posted can be read again"
    assert submitting.LEAST_POLL_S <= min(documents.POLL_S) <= max(documents.POLL_S) <= submitting.MOST_POLL_S
    for token in (live.acme, live.ada):
        assert tokens._TOKEN.fullmatch(token)
        assert teams._TOKEN.fullmatch(token)
