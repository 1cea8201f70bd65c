import { readFileSync } from 'node:fs'

interface StreamFixture {
  readonly encoding?: string
  readonly chunks: readonly string[]
}

/** The true streams of a vendor, each as one text or, where they are binary, as bytes. */
export function readStreams(vendor: string): Uint8Array[] {
  const streams: StreamFixture[] = readJson(`../fixtures/${vendor}/streams.json`)
  return streams.map(({ encoding, chunks }) =>
    Buffer.concat(
      chunks.map((chunk) => Buffer.from(chunk, encoding === 'base64' ? encoding : 'utf8')),
    ),
  )
}

/** The true answers of a vendor as JSON. */
export function readAnswers(vendor: string): string[] {
  const answers: { readonly body: unknown }[] = readJson(`../fixtures/${vendor}/answers.json`)
  return answers.map(({ body }) => (typeof body === 'string' ? body : JSON.stringify(body)))
}

/** The requests of a vendor's fixtures as JSON. */
export function readRequests(vendor: string): string[] {
  const requests: { readonly request: unknown }[] = readJson(`../fixtures/${vendor}/requests.json`)
  return requests.map(({ request }) => JSON.stringify(request))
}

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}
