const seconds: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
}

/** Parses a duration such as `90s`, `15m`, `24h`, `7d` or `2w` to seconds; undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  const size = seconds[unit]
  return size === undefined ? undefined : Number(count) * size
}
