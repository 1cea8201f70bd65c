import type { AccountEvent } from '../core/account-event.ts'
import { toUsd } from '../core/money.ts'

/** Renders an event as a message of Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
export function renderForSlack(event: AccountEvent): object {
  return { text: describe(event) }
}

function describe(event: AccountEvent): string {
  const { type, scope, name, budgetMax, budgetSpent, threshold } = event
  const subject = `${scope} "${escape(name)}"`
  const spent = `$${toUsd(budgetSpent)}`
  const budget = budgetMax === null ? 'its budget' : `its budget of $${toUsd(budgetMax)}`
  switch (type) {
    case 'budget.threshold':
      return `The ${subject} has spent ${threshold} % of ${budget}: ${spent}.`
    case 'budget.exhausted':
      return `A request of the ${subject} was refused: ${spent} of ${budget} are spent.`
    case 'key.disabled':
      return `The ${subject} was disabled.`
    case 'key.rotated':
      return `The ${subject} was rotated: it has a new secret.`
    case 'key.deleted':
      return `The ${subject} was deleted.`
    default:
      return type satisfies never
  }
}

/** Escapes what Slack reads as links and mentions: https://docs.slack.dev/messaging/formatting-message-text#escaping */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
