// Prints the tests of the CEL specification that npm's @bufbuild/cel-spec carries, one a line as
// JSON: name, expression, value in the form of cel_values.cc or "error", and what cel-go's checker
// said against the expression. Tests with variables and of other types are left out.
//
// usage: node spec_tests.mjs FOLDER, where FOLDER/node_modules holds the package.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { double, entriesText, quoted } from "./value_text.mjs";

const file = join(process.argv[2], "node_modules/@bufbuild/cel-spec/dist/esm/testdata");
const { tests } = await import(pathToFileURL(join(file, "conformance.js")).href);

// A key as JavaScript has it, so that keys have the order of ours.
function keyOf(key) {
  if ("boolValue" in key) return key.boolValue;
  return "stringValue" in key ? key.stringValue : Number(key.int64Value ?? key.uint64Value);
}

function text(value) {
  const [kind, content] = Object.entries(value)[0];
  switch (kind) {
    case "nullValue": return "null";
    case "boolValue": return String(content);
    case "int64Value": return content;
    case "uint64Value": return content + "u";
    case "doubleValue": return double(Number(content));
    case "stringValue": return quoted(new TextEncoder().encode(content));
    case "bytesValue": return "b" + quoted(Buffer.from(content, "base64"));
    case "typeValue": return content;
    case "listValue": return "[" + (content.values ?? []).map(text).join(", ") + "]";
    case "mapValue":
      return entriesText((content.entries ?? []).map((entry) =>
        [keyOf(entry.key), text(entry.key), text(entry.value)]));
    default: return null;
  }
}

function print(suite, path) {
  for (const inner of suite.suites ?? []) print(inner, path + inner.name + "/");
  for (const test of suite.tests ?? []) {
    const { name, expr, bindings, container, typeEnv, value } = test.original;
    if (expr.includes("\n") || bindings || container || typeEnv) continue;
    const fails = test.original.evalError || test.original.anyEvalErrors;
    const wanted = fails ? "error" : value ? text(value) : null;
    if (wanted !== null) console.log(JSON.stringify([path + name, expr, wanted, test.error ?? ""]));
  }
}

print(tests, "");
