import { BudgetBar, describeBudget } from './budgets.tsx'
import { formatCount, formatPercent, formatUsd, formatWhole } from './format.ts'
import { linkTo, place } from './place.ts'
import type { Subject, UsageGroup } from './shapes.ts'
import { findColor } from './spend-chart.tsx'
import { findBelow, titles } from './spend-dimensions.ts'
import type { Sums } from './spend-sums.ts'
import { groups as allGroups, keys } from './state.ts'

interface TableProps {
  readonly sums: Sums
  /** The name of a row. */
  readonly nameOf: (id: string) => string
}

/** The sums, the dearest first. A row leads to what is below it. */
export function SpendTable({ sums, nameOf }: TableProps) {
  const { groups, by, isTruncated } = sums
  const cost = groups.reduce((sum, group) => sum + group.cost, 0)
  const subjects = by === 'key' ? keys.value : by === 'group' ? allGroups.value : undefined
  const byId = subjects && new Map(subjects.map((subject) => [subject.id, subject]))
  return (
    <>
      {isTruncated && (
        <p class="hint">The {formatWhole(groups.length)} dearest. There are more of them.</p>
      )}
      <div class="scroll">
        <table class="labeled spend">
          <thead>
            <tr>
              <th scope="col">{titles[by]}</th>
              <th scope="col" class="wide">
                Cost
              </th>
              {byId && (
                <th scope="col" class="wide">
                  Budget
                </th>
              )}
              <Numbers />
            </tr>
          </thead>
          <tbody>
            {groups.map((sum) => (
              <tr key={sum.group}>
                <th scope="row">
                  <span class={`swatch ${findColor(sum, groups)}`} aria-hidden="true" />
                  <Name sums={sums} sum={sum} name={nameOf(sum.group)} />
                </th>
                <td class="wide" data-label="Cost">
                  <span>
                    {formatUsd(sum.cost)}{' '}
                    <span class="faint">{formatPercent(cost > 0 ? sum.cost / cost : 0)}</span>
                  </span>
                </td>
                {byId && (
                  <td class="wide" data-label="Budget">
                    <Budget subject={byId.get(sum.group)} />
                  </td>
                )}
                <td class="number" data-label="Requests">
                  {formatCount(sum.requests)}
                </td>
                <td class="number" data-label="Refused">
                  <Unserved count={sum.requests_client_error} />
                </td>
                <td class="number" data-label="Failed">
                  <Unserved count={sum.requests_server_error} />
                </td>
                <td class="number" data-label="Tokens in">
                  {formatCount(sum.tokens_in)}
                </td>
                <td class="number" data-label="Tokens out">
                  {formatCount(sum.tokens_out)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function Numbers() {
  return (
    <>
      <th scope="col" class="number">
        Requests
      </th>
      <th scope="col" class="number" title="Status 4xx: refusals, and clients that disconnected">
        Refused
      </th>
      <th scope="col" class="number" title="Status 5xx">
        Failed
      </th>
      <th scope="col" class="number">
        Tokens in
      </th>
      <th scope="col" class="number">
        Tokens out
      </th>
    </>
  )
}

interface NameProps {
  readonly sums: Sums
  readonly sum: UsageGroup
  readonly name: string
}

function Name({ sums: { by, narrowing }, sum, name }: NameProps) {
  const next = findBelow(by, narrowing)
  // The gateway has no filter for rows without a value.
  if (next === undefined || sum.group === '') return <span class="cut">{name}</span>
  const query = Object.fromEntries(place.value.query)
  return (
    <a class="cut" title={name} href={linkTo('spend', { ...query, [by]: sum.group, by: next })}>
      {name}
    </a>
  )
}

function Budget({ subject }: { readonly subject: Subject | undefined }) {
  if (!subject || subject.budget_max === null) return <span class="faint">none</span>
  return (
    <span>
      {describeBudget(subject)}
      <BudgetBar subject={subject} />
    </span>
  )
}

function Unserved({ count }: { readonly count: number }) {
  return count === 0 ? <span class="faint">0</span> : formatCount(count)
}
