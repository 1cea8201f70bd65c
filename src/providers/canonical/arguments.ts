import { extractTexts } from '../../wire/json-text.ts'
import type { RawTextReader } from './messages.ts'

/** The arguments of a call that a vendor has given as a value, of which this is the text. */
export function normalizeArguments(text: string | undefined): string {
  return text === undefined || text === 'null' ? '{}' : text
}

const decoder = new TextDecoder()

/** Finds texts in the body of a request. All that are alike in their place are looked up at once. */
export function createRawTextReader(body: Uint8Array): RawTextReader {
  const found = new Map<string, ReadonlyMap<string, string>>()
  return (path) => {
    const pattern = path.replace(/\.\d+(?=\.)/g, '.*')
    let texts = found.get(pattern)
    if (!texts) {
      texts = extractTexts(decoder.decode(body), pattern)
      found.set(pattern, texts)
    }
    return texts.get(path) ?? ''
  }
}
