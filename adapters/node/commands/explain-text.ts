import * as z from 'zod'
import { formatCount } from '../output/amounts.ts'
import type { Paint, Style } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import { lineSchema } from './usage-why.ts'

const errorSchema = z.looseObject({ code: z.string(), message: z.string() }).nullable()

const reservedLine = lineSchema.extend({
  price_entries: z.string().nullable(),
  bounded: z.boolean(),
})

const linkSchema = z.looseObject({
  model: z.string(),
  provider: z.string(),
  credential: z.string(),
  // A gateway of an earlier version has none.
  credential_detail: z.string().optional(),
  circuit: z.string(),
  pattern: z.string().nullish(),
  rooms: z
    .array(
      z.looseObject({
        scope: z.string(),
        max_parallel: z.number(),
        running: z.number(),
        waiting: z.number(),
      }),
    )
    .optional(),
  pinned: z.boolean().optional(),
  pinned_credential: z.string().nullish(),
  dropped: z.array(z.string()),
  cache_marks: z.array(z.string()).nullish(),
  profile: z.string().nullish(),
  prompt_price: z.string().nullish(),
  price: z.string().nullish(),
  reservation: z.number().nullish(),
  lines: z.array(reservedLine).optional(),
  unpriced: z.looseObject({ missing: z.string(), setting: z.string() }).nullish(),
  tools: z
    .array(z.looseObject({ name: z.string(), calls: z.number(), bounded: z.boolean() }))
    .optional(),
  error: errorSchema,
  upstream: z.looseObject({ url: z.string(), body: z.unknown() }).nullable(),
})

const conditionSchema = z.looseObject({
  name: z.string(),
  value: z.union([z.string(), z.number(), z.boolean()]).nullable(),
  holds: z.boolean(),
})

const stepSchema = z.looseObject({
  id: z.string(),
  target: z.string(),
  cases: z.array(
    z.looseObject({
      target: z.string(),
      holds: z.boolean(),
      conditions: z.array(conditionSchema),
    }),
  ),
})

/** The answer of `POST /admin/explain`. */
const answerSchema = z.looseObject({
  route: z
    .looseObject({
      id: z.string(),
      // A gateway of an earlier version has none.
      switches: z.array(stepSchema).optional(),
      order: z.array(z.string()),
    })
    .nullable(),
  links: z.array(linkSchema),
  estimate: z.looseObject({ prompt_tokens: z.number(), output_tokens: z.number() }).nullable(),
  reservation: z.number().nullable(),
  admission: z.looseObject({ verdict: z.string(), scope: z.string().nullable() }),
  error: errorSchema,
})

type Explained = z.infer<typeof answerSchema>

/** Renders the answer of the admin API for people. */
export function renderExplained(answer: unknown, style: Style): string {
  const explained = answerSchema.parse(answer)
  const links = explained.links.map((link, at) => renderLink(link, at + 1, style))
  return [renderVerdict(explained, style).join('\n'), ...links].join('\n\n')
}

function renderVerdict(
  { route, estimate, reservation, admission, error }: Explained,
  { bold, dim, green, red }: Style,
): string[] {
  const scope = admission.scope === null ? '' : ` by the limits of the ${admission.scope}`
  const cost = reservation === null ? 'without prices' : `at most $${formatAmount(reservation)}`
  const line = (name: string, value: string) => `${dim(name.padEnd(11))}${value}`
  return [
    ...(route ? [line('Route', `${bold(route.id)}: ${route.order.join(', ')}`)] : []),
    ...(route?.switches ?? []).flatMap((step) => [
      line('Switch', `${bold(step.id)} serves as ${step.target}`),
      ...step.cases.map((one, at) => line('', describeCase(one, at + 1))),
    ]),
    ...(estimate
      ? [
          line(
            'Estimate',
            `${formatCount(estimate.prompt_tokens)} prompt tokens, at most ${formatCount(estimate.output_tokens)} output tokens, ${cost}`,
          ),
        ]
      : []),
    line('Verdict', error ? red(`refused${scope}`) : green('admitted')),
    ...(error ? [line('Error', `${error.code} ${error.message}`)] : []),
  ]
}

type TriedCase = z.infer<typeof stepSchema>['cases'][number]

/** `case 1, big: does not hold: input_tokens is 812`. */
function describeCase({ target, holds, conditions }: TriedCase, place: number): string {
  const reasons = conditions.filter((condition) => condition.holds === holds)
  const said = reasons.map(({ name, value }) => `${name} is ${value ?? 'absent'}`).join(', ')
  return `case ${place}, ${target}: ${holds ? 'holds' : 'does not hold'}: ${said}`
}

/** A small amount has up to nine decimals, as the admin API has them. */
function formatAmount(usd: number): string {
  return usd.toFixed(9).replace(/\.?0+$/, '')
}

type LinkRoom = NonNullable<Explained['links'][number]['rooms']>[number]

function renderLink(link: Explained['links'][number], place: number, style: Style): string {
  const { bold, dim, yellow, red } = style
  const { model, provider, circuit, dropped, error, upstream } = link
  return [
    `${place}. ${bold(model)} at ${provider}: credential ${describeCredential(link, yellow)}, circuit ${circuit === 'closed' ? circuit : yellow(circuit)}`,
    ...(link.pattern ? [`   the pattern ${link.pattern} serves it`] : []),
    ...(link.pinned ? [`   ${describePin(link)}`] : []),
    ...(link.rooms ?? []).map((room) => describeRoom(room, style)),
    ...(error ? [`   ${red('skipped')}: ${error.message}`] : []),
    ...(dropped.length > 0 && !error ? [`   ${yellow('leaves out')} ${dropped.join(', ')}`] : []),
    ...(link.cache_marks?.length ? [`   marks for the cache ${link.cache_marks.join(', ')}`] : []),
    ...(link.profile?.includes(',') ? [`   profile ${link.profile}`] : []),
    ...(link.unpriced ? [`   ${yellow('cost not known')}: ${describeMissing(link.unpriced)}`] : []),
    ...(error ? [] : renderReserved(link, style)),
    ...(upstream ? [`   POST ${upstream.url}`, dim(indent(upstream.body))] : []),
  ].join('\n')
}

function describePin({ pinned_credential: credential }: Explained['links'][number]): string {
  const key = credential ? ` with ${credential}` : ''
  return `pinned: it has served the session${key}`
}

function describeRoom(
  { scope, running, waiting, max_parallel: max }: LinkRoom,
  { yellow }: Style,
): string {
  const calls = `${formatCount(running)} of ${formatCount(max)} calls`
  const queue = waiting === 0 ? '' : `, ${formatCount(waiting)} waiting`
  return `   room of the ${scope}: ${running < max ? calls : yellow(calls)}${queue}`
}

function describeMissing({
  missing,
  setting,
}: NonNullable<Explained['links'][number]['unpriced']>): string {
  return `no ${missing}, set ${setting}`
}

/** Renders what is reserved, with its lines as those of a cost: see `gateway usage --why`. */
function renderReserved(
  { reservation, lines = [] }: Explained['links'][number],
  style: Style,
): string[] {
  // A gateway of an earlier version has none.
  if (reservation === undefined || reservation === null) return []
  const rows = lines.map(({ name, count, price, per, cost, price_entries: entries, bounded }) => [
    name.replaceAll('_', ' '),
    formatCount(count),
    `× $${price} / ${formatCount(per)}`,
    cost.toFixed(9),
    [...(entries === null ? [] : [entries]), ...(bounded ? [] : ['not bounded'])].join(', '),
  ])
  const columns = ['', '>COUNT', 'PRICE', '>US DOLLARS', '']
  const table = renderTable({ columns, rows }, style)
  return [`   reserves $${formatAmount(reservation)}`, table.replace(/^/gm, '     ')]
}

/** In the words of `--check-config`: `stored`, `not needed`; `missing: OPENAI_API_KEY is unset`. */
function describeCredential(
  { credential, credential_detail: detail = credential }: Explained['links'][number],
  mark: Paint,
): string {
  if (credential === 'present' || credential === 'not_needed') return detail
  return mark(credential === 'missing' && detail !== credential ? `missing: ${detail}` : detail)
}

function indent(body: unknown): string {
  const shown = body === null ? '(a body over 1 MiB)' : JSON.stringify(body, null, 2)
  return shown.replace(/^/gm, '   ')
}
