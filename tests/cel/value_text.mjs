// Values as text in the form of cel_values.cc.

export function quoted(bytes) {
  let text = '"';
  for (const byte of bytes) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    text += plain ? String.fromCharCode(byte) : "\\x" + byte.toString(16).padStart(2, "0");
  }
  return text + '"';
}

export function double(number) {
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
  if (typeof left === "string") return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return left < right ? -1 : 1;
}

// Of entries as [key, text of the key, text of the value].
export function entriesText(entries) {
  const sorted = [...entries].sort((left, right) => orderOf(left[0], right[0]));
  return "{" + sorted.map(([, key, value]) => `${key}: ${value}`).join(", ") + "}";
}
