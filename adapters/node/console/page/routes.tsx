import { useAnswer } from './answer.ts'
import { formatDuration } from './format.ts'
import { linkTo } from './place.ts'
import { Problem } from './problem.tsx'
import { isFound, SearchBox } from './search-box.tsx'
import type { RouteLink, RouteReport, RouteTarget } from './shapes.ts'
import { State, type StateProps } from './state-word.tsx'

/** The routes and switches of the configuration, with what their strategies know now. */
export function Routes() {
  const { value: known, problem } = useAnswer<{ readonly routes: readonly RouteReport[] }>(
    '/admin/routes',
  )
  const shown = known?.routes.filter((route) => isFound(route.id, ...listNames(route))) ?? []
  return (
    <section class="panel">
      <div class="section-head">
        <h2>Routes</h2>
        <SearchBox placeholder="Id, target or provider" />
      </div>
      <Problem of="the routes" problem={problem} />
      {known?.routes.length === 0 && (
        <p class="empty">
          The configuration has no <code>[[routes]]</code>: each model is asked for by its own id.
        </p>
      )}
      {known && known.routes.length > 0 && shown.length === 0 && (
        <p class="empty">No such route.</p>
      )}
      <ul class="rows routes">
        {shown.map((route) => (
          <li key={route.id}>
            <Route route={route} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function listNames({ targets, fallbacks, cases, default: otherwise }: RouteReport) {
  const links = [...targets, ...fallbacks].flatMap(({ model, provider }) => [model, provider])
  return [...links, ...(cases ?? []).map(({ target }) => target), otherwise]
}

function Route({ route }: { readonly route: RouteReport }) {
  const { id, targets, fallbacks, cases } = route
  return (
    <>
      <div class="row-head">
        <strong>{id}</strong>
        <span class="faint">{describeStrategy(route)}</span>
        <a class="aside" href={linkTo('requests', { model: id })}>
          Requests
        </a>
      </div>
      {cases ? (
        <Cases cases={cases} otherwise={route.default} />
      ) : (
        <Targets targets={targets} fallbacks={fallbacks} />
      )}
    </>
  )
}

function describeStrategy({ strategy, affinity, affinity_ttl_seconds: ttl }: RouteReport): string {
  if (strategy === 'switch') return 'switch'
  const stays = affinity === 'off' ? '' : `; a ${affinity} stays at its target for ${ttl ?? 0} s`
  return `${strategy.replace('_', ' ')}${stays}`
}

interface CasesProps {
  readonly cases: NonNullable<RouteReport['cases']>
  readonly otherwise: string | null
}

function Cases({ cases, otherwise }: CasesProps) {
  return (
    <ol class="cases">
      {cases.map(({ target, conditions }, at) => (
        <li key={`${at} ${target}`}>
          if <code>{conditions.join(' and ')}</code> fits: <strong>{target}</strong>
        </li>
      ))}
      <li>
        otherwise: <strong>{otherwise}</strong>
      </li>
    </ol>
  )
}

type TargetsProps = Pick<RouteReport, 'targets' | 'fallbacks'>

function Targets({ targets, fallbacks }: TargetsProps) {
  return (
    <div class="scroll">
      <table class="targets cards">
        <thead>
          <tr>
            <th scope="col">Target</th>
            <th scope="col">Provider</th>
            <th scope="col">Circuit</th>
            <th scope="col" class="number">
              Weight
            </th>
            <th scope="col" class="number">
              Running
            </th>
            <th scope="col" class="number">
              First token
            </th>
            <th scope="col" class="number">
              Whole answer
            </th>
          </tr>
        </thead>
        <tbody>
          {targets.map((target) => (
            <LinkRow key={target.model} link={target} role={String(target.weight)} pace={target} />
          ))}
          {fallbacks.map((link) => (
            <LinkRow key={link.model} link={link} role="fallback" pace={undefined} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface LinkRowProps {
  readonly link: RouteLink
  /** Its weight, or that it is a fallback. */
  readonly role: string
  readonly pace: RouteTarget | undefined
}

function LinkRow({ link, role, pace }: LinkRowProps) {
  return (
    <tr>
      <th scope="row" class="cut" title={link.model}>
        {link.model}
      </th>
      <td class="provider cut">{link.provider}</td>
      <td class="circuit">
        <State {...describeCircuit(link.circuit)} />
      </td>
      <td class="weight number">{role}</td>
      <td class="running number">{link.in_flight}</td>
      <td class="ttft number">{formatPace(pace?.ttft_ms)}</td>
      <td class="latency number">{formatPace(pace?.latency_ms)}</td>
    </tr>
  )
}

function describeCircuit(state: string): StateProps {
  const color = state === 'closed' ? 'good' : state === 'open' ? 'bad' : 'warn'
  return { color, word: state }
}

function formatPace(milliseconds: number | null | undefined): string {
  return milliseconds == null ? '–' : formatDuration(milliseconds)
}
