import * as z from 'zod'
import { accountEventTypes } from '../core/account-event.ts'
import { webAddress } from './addresses.ts'
import {
  delay,
  distinct,
  distinctNonEmpty,
  duration,
  setting,
  variableName,
  wholeNumber,
} from './rules.ts'

/** The settings of webhooks, in the file and in `PUT /admin/webhooks`. */
export const webhookSettings = z.strictObject({
  url: setting('An http or https URL without user name and password.', webAddress),
  format: setting(
    '`json`, or `slack` for an [incoming webhook of Slack](webhooks.md#slack) or of a server that takes its form.',
    z.enum(['json', 'slack']).default('json'),
  ),
  events: setting(
    'One or more of `budget.threshold`, `budget.exhausted`, `key.disabled`, `key.rotated`, ' +
      '`key.deleted`.',
    distinctNonEmpty(z.enum(accountEventTypes)).default([
      'budget.threshold',
      'budget.exhausted',
      'key.disabled',
    ]),
  ),
  thresholds: setting(
    'Percentages of a budget, each 1 to 100, no duplicates. `[]` turns threshold events off.',
    distinct(wholeNumber(1, 100))
      .overwrite((percentages) => percentages.toSorted((a, b) => a - b))
      .default([50, 80, 95]),
  ),
  channel_capacity: setting(
    '1 to 1000000. Events that may wait for delivery; further ones are dropped.',
    wholeNumber(1, 1_000_000).default(1024),
  ),
  timeout_ms: setting('At least 1, per attempt.', duration.default(5000)),
  max_attempts: setting('1 to 100.', wholeNumber(1, 100).default(5)),
  retry_base_ms: setting(
    'The first pause between attempts; it doubles with each one.',
    delay.default(500),
  ),
})

/** The table of the file. */
export const webhooks = setting(
  'Optional; requires `auth.enabled = true`. Settings stored through the admin API win over ' +
    'this table.',
  webhookSettings.extend({
    signing_key_env: setting(
      'The name of the environment variable that holds the signing secret, with the same rule ' +
        'as `api_key_env`.',
      variableName.optional(),
    ),
  }),
)
