import { formatDate, formatUsd } from './format.ts'
import type { Subject } from './shapes.ts'
import { groups, keys } from './state.ts'

const shown = 8

/** The budgets of keys and groups that are closest to their cap. */
export function Budgets() {
  const capped = [...groups.value, ...keys.value]
    .filter(({ budget_max: max }) => max !== null)
    .toSorted((one, other) => spentPart(other) - spentPart(one))
  return (
    <section class="panel">
      <h2>Budgets</h2>
      {capped.length === 0 && <p class="empty">No key and no group has a budget.</p>}
      <ul class="rows">
        {capped.slice(0, shown).map((subject) => (
          <li key={subject.id}>
            <div class="row-head">
              <strong>{subject.name}</strong>
              <span>{describeBudget(subject)}</span>
            </div>
            <BudgetBar subject={subject} />
          </li>
        ))}
      </ul>
      {capped.length > shown && (
        <p class="hint">
          {capped.length - shown} more: see <a href="#keys">Keys</a>.
        </p>
      )}
    </section>
  )
}

interface BudgetProps {
  readonly subject: Subject
}

/** The part of a budget that is spent, as a bar. */
export function BudgetBar({ subject }: BudgetProps) {
  const part = spentPart(subject)
  const color = part >= 1 ? 'bad' : part >= 0.8 ? 'warn' : 'good'
  return (
    <meter
      class={color}
      min={0}
      max={1}
      value={part}
      aria-label={`budget of ${subject.name}: ${describeBudget(subject)}`}
    />
  )
}

/** What is spent and what may be, in words. */
export function describeBudget(subject: Subject): string {
  const { budget_spent: spent, budget_max: max, budget_resets_at: resetsAt } = subject
  if (max === null) return `${formatUsd(spent)} spent`
  const until = resetsAt === null ? '' : `, resets ${formatDate(resetsAt)}`
  return `${formatUsd(spent)} of ${formatUsd(max)}${until}`
}

function spentPart({ budget_spent: spent, budget_max: max }: Subject): number {
  if (max === null) return 0
  return max === 0 ? 1 : Math.min(1, spent / max)
}
