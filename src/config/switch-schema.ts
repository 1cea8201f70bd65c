import * as z from 'zod'
import { apis } from '../core/capability.ts'
import { daysOfHours, hours } from './price-schema.ts'
import { amount, distinctNonEmpty, setting, wholeNumber } from './rules.ts'

/** A value, or a list of values of which one must be there. */
function oneOrMore<Item extends z.ZodType<string>>(item: Item, rule: string) {
  const error = `must be ${rule}, or a list of them`
  return z.union([item, distinctNonEmpty(item)], { error })
}

const apiNames = apis.map((name) => `"${name}"`).join(', ')

const idRule = 'an id of 32 hexadecimal digits, as the admin API gives it'
const accountIds = oneOrMore(
  z.string().regex(/^[\da-f]{32}$/, { error: `must be ${idRule}` }),
  idRule,
)

const scalar = z.union([z.string(), z.number(), z.boolean()])
const valueRule = { error: 'must be a text, a number, true or false, or a list of them' }
const metadataValue = z.union([scalar, z.array(scalar).min(1, valueRule)], valueRule)

const inputTokens = setting(
  'Holds for so many tokens of the prompt, as the gateway estimates them. Needs one of the two.',
  z.strictObject({
    above: setting('0 to 1000000000. More tokens than this.', wholeNumber(0, 1e9).optional()),
    below: setting('1 to 1000000000. Fewer tokens than this.', wholeNumber(1, 1e9).optional()),
  }),
)

const budgetUsed = setting(
  'Holds when so much of a budget is spent, running requests aside: of that of the key or of its ' +
    'group, whichever is spent further. Never holds without a cap.',
  z.strictObject({
    above: setting('0 to 1. A larger part than this is spent: `0.9` for 90 %.', amount(0, 1)),
  }),
)

const when = setting(
  'The conditions of a case: at least one, and all must hold.',
  z.strictObject({
    api: setting(
      'The API of the request, or a list: `chat`, `messages`, `responses`, `completions`, ' +
        '`gemini`, `embeddings`, `rerank`, `decisions`.',
      oneOrMore(z.enum(apis), `one of ${apiNames}`).optional(),
    ),
    stream: setting('Whether the client asks for a stream.', z.boolean().optional()),
    has_tools: setting('Whether the request offers tools to the model.', z.boolean().optional()),
    has_images: setting('Whether the request has images.', z.boolean().optional()),
    has_files: setting(
      'Whether the request has documents, audio or video.',
      z.boolean().optional(),
    ),
    input_tokens: inputTokens.optional(),
    group: setting('The id of the group of the key, or a list.', accountIds.optional()),
    key: setting('The id of the key, or a list.', accountIds.optional()),
    metadata: setting(
      'Values of [metadata](api.md#request-ids-and-metadata), each by its name: `metadata.team = "search"`, or a list.',
      z.record(z.string(), metadataValue).optional(),
    ),
    budget_used: budgetUsed.optional(),
    hours: setting(
      'Holds at these times of a day, as for [prices](prices.md): `["16:30-00:30"]`.',
      distinctNonEmpty(hours).optional(),
    ),
    ...daysOfHours,
  }),
)

/** The rules about its targets are in `check-switches.ts`. */
export const caseSchema = setting(
  'The cases of a `switch`, in order: the first one that holds decides.',
  z.strictObject({
    when,
    target: setting('The id of a model, or of another route.', z.string()),
  }),
)

export type CaseConfig = z.infer<typeof caseSchema>
