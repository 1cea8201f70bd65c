/** Removes parts of an input, large ones first, as long as it still fails. */
export async function shrink(
  input: Uint8Array,
  fails: (input: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  let smallest = input
  for (let part = Math.ceil(input.length / 2); part >= 1; part = Math.floor(part / 2)) {
    for (let at = 0; at < smallest.length; ) {
      const smaller = Uint8Array.from([
        ...smallest.subarray(0, at),
        ...smallest.subarray(at + part),
      ])
      if (await fails(smaller)) smallest = smaller
      else at += part
    }
  }
  return smallest
}
