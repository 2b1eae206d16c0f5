"""Advanced-controls files: the season's reach the assembler, others are refused."""

import hashlib

import yaml

PATH = "/opt/acf/season.bin"


def with_controls(starter):
    return starter.replace("block_sizes=[4, 16]", f'block_sizes=[4, 16], advanced_controls_file="{PATH}"')


def test_a_file_that_the_season_does_not_provide_is_refused(workspace, starter):
    record = workspace.submit(with_controls(starter), code=1)
    assert (record["verdict"]["kind"], record["verdict"]["reason"]) == ("POLICY_VIOLATION", "advanced_controls")
    assert PATH in record["verdict"]["message"]


def test_the_seasons_file_is_at_its_path_and_reaches_the_assembler(workspace, starter):
    content = b"not a real controls file"
    (workspace.root / "season.bin").write_bytes(content)
    shapes = workspace.root / "shapes.yaml"
    document = yaml.safe_load(shapes.read_text())
    item = {"id": "season-1", "path": PATH, "file": "season.bin", "sha256": hashlib.sha256(content).hexdigest()}
    document["season"]["advanced_controls"] = [item]
    shapes.write_text(yaml.safe_dump(document))
    check = f"import os\nassert os.path.getsize({PATH!r}) == {len(content)}\n"
    record = workspace.submit(check + with_controls(starter), code=1)
    # The assembler reads the file and finds that it is none: only a real one, made by its maker's tools, would pass.
    assert (record["verdict"]["kind"], record["verdict"]["stage"]) == ("COMPILE_ERROR", "assemble"), record["verdict"]

    document["season"]["advanced_controls"] = [{**item, "sha256": "0" * 64}]
    shapes.write_text(yaml.safe_dump(document))
    result = workspace.run("submit", "scale")
    assert result.returncode == 2
    assert "season.advanced_controls.0.sha256: season.bin hashes to" in result.stderr
