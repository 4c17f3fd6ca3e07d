// Reads expressions from standard input, one a line, and prints the value that npm's @bufbuild/cel
// gives each, in the form of cel_values.cc.
//
// usage: node bufbuild_values.mjs FOLDER, where FOLDER/node_modules holds the package.
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { double, entriesText, quoted } from "./value_text.mjs";

const modules = join(process.argv[2], "node_modules", "@bufbuild", "cel", "dist", "esm");
const load = (file) => import(pathToFileURL(join(modules, file)).href);
const cel = await load("index.js");
const { strings } = await load("ext/index.js");
const environment = cel.celEnv({ funcs: strings });

const utf8 = new TextEncoder();

function text(value) {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return double(value);
  if (typeof value === "string") return quoted(utf8.encode(value));
  if (value instanceof Uint8Array) return "b" + quoted(value);
  if (cel.isCelUint(value)) return `${value.value}u`;
  if (cel.isCelList(value)) return "[" + [...value].map(text).join(", ") + "]";
  if (cel.isCelMap(value)) {
    return entriesText([...value.entries()].map(([key, item]) => [key, text(key), text(item)]));
  }
  if (cel.isCelType(value)) return value.name;
  return `<${typeof value}>`;
}

function valueOf(expression) {
  let value;
  try {
    value = cel.plan(environment, cel.parse(expression))({});
  } catch (failure) {
    return "error: " + failure.message;
  }
  return cel.isCelError(value) ? "error: " + value.message : text(value);
}

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
let out = "";
for await (const line of lines) {
  out += valueOf(line).replaceAll("\n", " ") + "\n";
  if (out.length > 1 << 16) {
    process.stdout.write(out);
    out = "";
  }
}
process.stdout.write(out);
