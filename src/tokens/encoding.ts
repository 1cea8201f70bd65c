import type { TokenEncoding } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'

/** The beginnings of model names, in the order in which they are tried: `gpt-4o` before `gpt-4`. */
const beginnings: readonly (readonly [RegExp, TokenEncoding])[] = [
  [/^(?:o[134](?![a-z0-9])|gpt-5|gpt-4\.5|gpt-4\.1|chatgpt-4o|gpt-4o|gpt-oss)/, 'o200k_base'],
  [
    /^(?:gpt-4|gpt-3\.5|gpt-35|text-embedding-3|text-embedding-ada-002|davinci-002|babbage-002)/,
    'cl100k_base',
  ],
]

/** What may precede a model name: a vendor (`openai/`, `accounts/x/models/`, `openai.`), and `ft:`. */
const prefix = /^(?:.*\/)?(?:openai\.)?(?:ft:)?/

/** Finds the encoding of a model by its upstream id, or else by its id; undefined unless it is OpenAI's. */
export function findEncoding({ upstreamId, id }: Pick<Model, 'upstreamId' | 'id'>) {
  return matchEncoding(upstreamId) ?? matchEncoding(id)
}

function matchEncoding(id: string): TokenEncoding | undefined {
  const name = id.replace(prefix, '')
  return beginnings.find(([beginning]) => beginning.test(name))?.[1]
}
