import { useSignal } from '@preact/signals'
import { useAnswer } from './answer.ts'
import { DiscoveredModels } from './discovered-models.tsx'
import { formatCount, formatUsd } from './format.ts'
import { linkTo } from './place.ts'
import { Problem } from './problem.tsx'
import { Fact } from './request-details.tsx'
import { isFound, SearchBox } from './search-box.tsx'
import type { ModelReport, ModelReports } from './shapes.ts'
import { status } from './state.ts'
import { State } from './state-word.tsx'

/** The models of the configuration, with what they cost. A row opens to all that is known of one. */
export function ModelTable() {
  const { value: known, problem } = useAnswer<ModelReports>('/admin/models')
  const opened = useSignal<string | undefined>(undefined)
  const models = known?.models ?? []
  const shown = models.filter((model) => isFound(model.id, model.provider, model.upstream_id))
  return (
    <>
      <section class="panel">
        <div class="section-head">
          <h2>Models</h2>
          <SearchBox placeholder="Id, provider or upstream name" />
        </div>
        <Problem of="the models" problem={problem} />
        {known && shown.length === 0 && <p class="empty">No such model.</p>}
        {shown.length > 0 && (
          <div class="scroll">
            <table class="models cards">
              <Head />
              {shown.map((model) => (
                <Row
                  key={model.id}
                  model={model}
                  isOpen={opened.value === model.id}
                  toggle={() => {
                    opened.value = opened.value === model.id ? undefined : model.id
                  }}
                />
              ))}
            </table>
          </div>
        )}
      </section>
      {known && <DiscoveredModels models={known.discovered} />}
    </>
  )
}

function Head() {
  return (
    <thead>
      <tr>
        <th scope="col">Model</th>
        <th scope="col">Provider</th>
        <th scope="col">Capabilities</th>
        <th scope="col" class="number">
          Context
        </th>
        <th scope="col" class="number">
          Input, 1M tokens
        </th>
        <th scope="col" class="number">
          Output, 1M tokens
        </th>
      </tr>
    </thead>
  )
}

interface RowProps {
  readonly model: ModelReport
  readonly isOpen: boolean
  readonly toggle: () => void
}

function Row({ model, isOpen, toggle }: RowProps) {
  const { id, provider, upstream_id: upstream } = model
  const isKeyless = status.value?.credentials[provider]?.state === 'missing'
  return (
    <tbody>
      <tr class="opens" onClick={toggle}>
        <th scope="row" class="cut" title={id}>
          <button type="button" class="link" aria-expanded={isOpen}>
            {id}
          </button>
          {upstream !== id && <span class="faint"> → {upstream}</span>}
        </th>
        <td class="cut provider" title={provider}>
          {provider}
          {isKeyless && <State color="bad" word="no credential" />}
        </td>
        <td class="capabilities">{model.capabilities.join(', ')}</td>
        <td class="number context">{formatLimit(model.context_window)}</td>
        <Prices model={model} />
      </tr>
      {isOpen && (
        <tr class="opened">
          <td colSpan={6}>
            <Details model={model} />
          </td>
        </tr>
      )}
    </tbody>
  )
}

/** The cells of the prices, or one that says why there are none. */
function Prices({ model }: { readonly model: ModelReport }) {
  const { prices } = model
  const why = describeLack(model)
  if (why || !prices) {
    return (
      <td class="number lack" colSpan={2}>
        <State {...(why ?? { color: 'warn', word: 'no price' })} />
      </td>
    )
  }
  const sign = model.prices_vary ? '*' : ''
  return (
    <>
      <td class="number input" title={describeVariety(model)}>
        {formatUsd(prices['input_per_1m'] ?? 0)}
        {sign}
      </td>
      <td class="number output" title={describeVariety(model)}>
        {formatUsd(prices['output_per_1m'] ?? 0)}
        {sign}
      </td>
    </>
  )
}

function describeLack({ prices, cost_reported: isReported }: ModelReport) {
  if (isReported) return { color: 'good', word: 'as the vendor reports' } as const
  return prices === null ? ({ color: 'warn', word: 'no price' } as const) : undefined
}

function describeVariety({ prices_vary: doVary }: ModelReport): string | undefined {
  return doVary
    ? 'of the standard tier and short prompts; others have prices of their own'
    : undefined
}

function Details({ model }: { readonly model: ModelReport }) {
  const { prices, fallbacks } = model
  return (
    <div class="details">
      <dl class="facts">
        <Fact name="Upstream name">
          <code>{model.upstream_id}</code>
        </Fact>
        <Fact name="Kind of provider">{model.kind}</Fact>
        <Fact name="Takes">{model.modalities.join(', ')}</Fact>
        <Fact name="Longest prompt">{formatLimit(model.max_input_tokens)}</Fact>
        <Fact name="Longest answer">{formatLimit(model.max_output_tokens)}</Fact>
        <Fact name="Fallbacks">{describeFallbacks(fallbacks)}</Fact>
        {listCosts(prices ?? {}).map(([name, price]) => (
          <Fact key={name} name={nameCost(name)}>
            {formatUsd(price)}
          </Fact>
        ))}
      </dl>
      {model.prices_vary && <p>* {describeVariety(model)}</p>}
      {model.missing_prices.length > 0 && (
        <p>
          Without a price: <code>{model.missing_prices.join(', ')}</code>. What needs it is booked
          as costing nothing.
        </p>
      )}
      <p class="neighbours">
        <a href={linkTo('requests', { model: model.id })}>Requests for this model</a>
      </p>
    </div>
  )
}

/** Leaves out the fees of 0, which hold where none is configured. */
function listCosts(prices: Readonly<Record<string, number>>) {
  return Object.entries(prices).filter(([name, price]) => price > 0 || name.endsWith('_1m'))
}

function describeFallbacks(fallbacks: readonly string[] | null): string {
  if (fallbacks === null) return 'of each id that the pattern serves'
  return fallbacks.length === 0 ? 'none' : fallbacks.join(', ')
}

function formatLimit(tokens: number | null): string {
  return tokens === null ? '–' : formatCount(tokens)
}

/** The name of a price in words: `Cached input, 1M tokens`. */
function nameCost(name: string): string {
  const [, what = '', unit] = /^(.*)_per_(1m|1k)$/.exec(name) ?? []
  const words = what.replaceAll('_', ' ')
  return `${words[0]?.toUpperCase()}${words.slice(1)}, ${unit === '1m' ? '1M tokens' : '1,000'}`
}
