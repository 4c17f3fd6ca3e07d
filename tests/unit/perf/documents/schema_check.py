#!/usr/bin/python3
"""Goal: docs/*.schema.json describe the files that we write, exactly.

Method: perf_samples writes schemas, good documents and bad documents; the schemas in docs/ must be
those, every good document must validate, and every bad one, which our reader rejects, must fail.
Usage: perf_schema_check.py PERF_SAMPLES DOCS_FOLDER
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema


def check(samples: pathlib.Path, docs: pathlib.Path) -> list[str]:
    problems = []
    validators = {}
    for generated in sorted((samples / "schemas").iterdir()):
        published = docs / generated.name
        if not published.exists() or published.read_bytes() != generated.read_bytes():
            problems.append(
                f"docs/{generated.name}: expected what perf_samples writes;"
                f" run `perf_samples FOLDER` and copy FOLDER/schemas/{generated.name}"
            )
        schema = json.loads(generated.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[generated.name.split(".")[0]] = jsonschema.Draft202012Validator(schema)
    for kind, valid in (("good", True), ("bad", False)):
        for document in sorted((samples / kind).iterdir()):
            validator = validators[document.name.split(".")[0]]
            errors = list(validator.iter_errors(json.loads(document.read_text())))
            if valid and errors:
                problems.append(f"{document.name}: {errors[0].json_path}: {errors[0].message}")
            if not valid and not errors:
                problems.append(f"{document.name}: the schema accepts what the reader rejects")
    if len(validators) != 7:
        problems.append(f"expected 7 schemas, got {len(validators)}")
    return problems


def main() -> int:
    program, docs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        problems = check(pathlib.Path(folder), pathlib.Path(docs))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
