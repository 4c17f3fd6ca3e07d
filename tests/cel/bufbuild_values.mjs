// Reads expressions from standard input, one a line, and prints the value that npm's @bufbuild/cel
// gives each, in the form of cel_values.cc.
//
// usage: node bufbuild_values.mjs FOLDER, where FOLDER/node_modules holds the package.
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = join(process.argv[2], "node_modules", "@bufbuild", "cel", "dist", "esm");
const load = (file) => import(pathToFileURL(join(modules, file)).href);
const cel = await load("index.js");
const { strings } = await load("ext/index.js");
const environment = cel.celEnv({ funcs: strings });

const utf8 = new TextEncoder();

function quoted(bytes) {
  let text = '"';
  for (const byte of bytes) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    text += plain ? String.fromCharCode(byte) : "\\x" + byte.toString(16).padStart(2, "0");
  }
  return text + '"';
}

function double(number) {
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return number < 0 ? "-inf" : "inf";
  if (Object.is(number, -0)) return "-0e+00";
  const [digits, exponent] = number.toExponential().split("e");
  return digits + "e" + exponent[0] + exponent.slice(1).padStart(2, "0");
}

// Keys in the order of ours: false, true, numbers, strings by their bytes.
function orderOf(left, right) {
  const rank = (key) => (typeof key === "boolean" ? 0 : typeof key === "string" ? 2 : 1);
  if (rank(left) !== rank(right)) return rank(left) - rank(right);
  if (typeof left === "string") return Buffer.compare(utf8.encode(left), utf8.encode(right));
  return left < right ? -1 : 1;
}

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
    const entries = [...value.entries()].sort((left, right) => orderOf(left[0], right[0]));
    return "{" + entries.map(([key, item]) => `${text(key)}: ${text(item)}`).join(", ") + "}";
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
