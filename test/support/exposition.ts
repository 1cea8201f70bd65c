/** One sample of `/metrics`. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Parses all samples of a Prometheus text exposition. */
export function samples(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const {
        name = '',
        labels = '',
        value,
      } = line.match(/^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/)?.groups ??
      {}
      return { name, labels: parseLabels(labels), value: Number(value) }
    })
}

/** Returns the samples of one name. */
export function series(text: string, name: string): Omit<Sample, 'name'>[] {
  return samples(text)
    .filter((sample) => sample.name === name)
    .map(({ labels, value }) => ({ labels, value }))
}

function parseLabels(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]))
}
