import { auditActions } from '../../src/core/audit.ts'
import { apis, capabilities } from '../../src/core/capability.ts'
import { usageGroupings, usageIntervals } from '../../src/store/index.ts'
import type { Answer, Body, Operation, Operations, Parameter } from './operation.ts'

const errors = [400, 401, 408, 413, 415, 417, 431, 500, 503]

interface Managing {
  readonly summary: string
  readonly answers: Readonly<Record<number, Answer>>
  readonly body?: Body
  readonly parameters?: readonly Parameter[]
  readonly alsoErrors?: readonly number[]
}

function manage(tag: Operation['tag'], { alsoErrors = [], ...managing }: Managing): Operation {
  return { tag, key: 'master', errors: [...errors, ...alsoErrors].toSorted(), ...managing }
}

const done: Readonly<Record<number, Answer>> = { 204: { description: 'Done.' } }

const query = (name: string, description: string, schema: object = { type: 'string' }) => ({
  name,
  description,
  schema,
})

const integer = (minimum: number, maximum: number, byDefault: number) => ({
  type: 'integer',
  minimum,
  maximum,
  default: byDefault,
})

const time = { type: 'string', examples: ['1767225600', '2026-01-01T00:00:00Z'] }

const window = [
  query('since', 'Unix seconds or RFC 3339; by default 24 hours before `until`.', time),
  query('until', 'The end, exclusive; by default now.', time),
]

const requestFilters = [
  query('request_id', 'The value of `x-request-id`.'),
  query('key_id', 'Only this key.'),
  query('group_id', 'Only this group.'),
  query('model', 'Only this model, as clients ask for it.'),
  query('provider', 'Only this provider.'),
  query('status', 'A status such as `429`, or a class such as `4xx`.', {
    type: 'string',
    pattern: '^[1-5](?:[0-9]{2}|[xX]{2})$',
  }),
  query('failed', 'Only requests with a status from 400 on, or only others.', {
    enum: ['true', 'false'],
  }),
  query('error_code', 'Only this code, such as `LM-4001`.'),
]

const position = { type: 'string', pattern: '^[0-9]{1,15}[.][0-9]{1,15}$' }

const includeDeleted = query('include_deleted', 'Whether to list deleted ones too.', {
  type: 'boolean',
  default: false,
})

const cursor = query('cursor', 'The `next_cursor` of the page before.', {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: 0,
})

/** Creates the routes that keys and groups have in common. */
function accounts(noun: 'key' | 'group'): Operations {
  const schema = noun === 'key' ? 'Key' : 'Group'
  const one = { 200: { description: `The ${noun}.`, schema } } as const
  return {
    [`/admin/${noun}s`]: {
      get: manage('Keys', {
        summary: `List the ${noun}s`,
        parameters: [includeDeleted],
        answers: { 200: { description: `The ${noun}s.`, schema: `${schema}List` } },
      }),
      post: manage('Keys', {
        summary: `Create a ${noun}`,
        body: {
          schema: `New${schema}`,
          example: { name: 'search team', budget_max: 50, budget_period: 'month', rpm_limit: 60 },
        },
        answers: {
          201: {
            description: `The ${noun}.`,
            schema: noun === 'key' ? 'KeyWithSecret' : 'Group',
          },
        },
      }),
    },
    [`/admin/${noun}s/{id}`]: {
      get: manage('Keys', { summary: `Show a ${noun}`, answers: one }),
      patch: manage('Keys', {
        summary: `Change a ${noun}; absent fields stay`,
        body: { schema: `${schema}Change`, example: { rpm_limit: 120, models: ['demo*'] } },
        answers: one,
      }),
      delete: manage('Keys', { summary: `Delete a ${noun} for good`, answers: done }),
    },
    [`/admin/${noun}s/{id}/grant`]: {
      post: manage('Keys', {
        summary: `Add to the budget of a ${noun}`,
        body: { schema: 'Grant', example: { amount: 10 } },
        answers: one,
      }),
    },
  }
}

/** Which rows of the usage log are summed up, and how. */
export const sumParameters: readonly Parameter[] = [
  query('group_id', 'Only this group.'),
  query('model', 'Only this model, as clients ask for it.'),
  query('provider', 'Only this provider.'),
  query('capability', 'Only this capability.', { enum: capabilities }),
  query('api', 'Only this API.', { enum: apis }),
  ...window,
  query('group_by', 'What the sums are of.', { enum: usageGroupings, default: 'model' }),
  query('interval', 'Divides each sum into intervals of this length, in UTC.', {
    enum: usageIntervals,
  }),
  query('limit', 'How many sums.', integer(1, 1000, 100)),
]

/** The routes below `/admin`, which exist with auth on. */
export const admin: Operations = {
  ...accounts('key'),
  '/admin/keys/{id}/rotate': {
    post: manage('Keys', {
      summary: 'Replace the secret of a key',
      body: { schema: 'KeyRotation', example: { grace_seconds: 3600 }, optional: true },
      answers: { 200: { description: 'The key with its new secret.', schema: 'KeyWithSecret' } },
    }),
  },
  ...accounts('group'),
  '/admin/usage': {
    get: manage('Usage', {
      summary: 'Show the sums of the usage log',
      parameters: [query('key_id', 'Only this key.'), ...sumParameters],
      answers: { 200: { description: 'The sums.', schema: 'UsageSums' } },
    }),
  },
  '/admin/usage/export': {
    get: manage('Usage', {
      summary: 'List the rows of the usage log',
      parameters: [
        ...window,
        ...requestFilters,
        cursor,
        query('limit', 'How many rows.', integer(1, 10_000, 1000)),
      ],
      answers: { 200: { description: 'A page of rows.', schema: 'UsageRows' } },
    }),
  },
  '/admin/usage/parts': {
    get: manage('Usage', {
      summary: 'Sum what the costs of a page of rows are made of',
      parameters: [
        ...window,
        ...requestFilters,
        cursor,
        query('limit', 'How many rows.', integer(1, 10_000, 1000)),
      ],
      answers: { 200: { description: 'The sums of the lines.', schema: 'UsageParts' } },
    }),
  },
  '/admin/usage/reprice': {
    post: manage('Usage', {
      summary:
        'Price rows of the usage log again, by the prices in force when each request arrived',
      body: { schema: 'Repricing', example: { since: 1764000000, write: false } },
      answers: { 200: { description: 'Sums of a page of rows.', schema: 'RepricedSums' } },
    }),
  },
  '/admin/usage/rows/{request_id}': {
    get: manage('Usage', {
      summary: 'Show what the cost of a request is made of',
      answers: { 200: { description: 'Its rows, with their lines.', schema: 'UsageCosts' } },
    }),
  },
  '/admin/audit': {
    get: manage('Usage', {
      summary: 'List the changes that operators made',
      parameters: [
        ...window,
        query('action', 'Only this action.', { enum: auditActions }),
        query('subject_id', 'Only changes of this key, group or provider.'),
        cursor,
        query('limit', 'How many rows.', integer(1, 1000, 1000)),
      ],
      answers: { 200: { description: 'A page of rows.', schema: 'AuditRows' } },
    }),
  },
  '/admin/requests': {
    get: manage('Usage', {
      summary: 'List requests with their outcome, refused ones too, newest first',
      parameters: [
        query(
          'since',
          'Unix seconds or RFC 3339; by default 24 hours before `until` beside a filter by key, group, model or provider, and all that is kept otherwise.',
          time,
        ),
        query('until', 'The end, included; by default now.', time),
        ...requestFilters,
        query('cursor', 'The `next_cursor` of the page before.', position),
        query(
          'after',
          'The `after` of an earlier answer: what came later, oldest first.',
          position,
        ),
        query('limit', 'How many requests.', integer(1, 1000, 100)),
      ],
      answers: { 200: { description: 'A page of requests.', schema: 'RequestList' } },
    }),
  },
  '/admin/status': {
    get: manage('Operation', {
      summary: 'Show circuits, probes and the last hour',
      answers: { 200: { description: 'The status.', schema: 'Status' } },
    }),
  },
  '/admin/models': {
    get: manage('Operation', {
      summary: 'Show the models with their prices',
      answers: { 200: { description: 'The models.', schema: 'ModelReports' } },
    }),
  },
  '/admin/routes': {
    get: manage('Operation', {
      summary: 'Show the routes with their targets',
      answers: { 200: { description: 'The routes.', schema: 'RouteReports' } },
    }),
  },
  '/admin/explain': {
    post: manage('Operation', {
      summary: 'Explain how a request would be handled',
      body: {
        schema: 'Question',
        example: {
          path: '/v1/chat/completions',
          body: { model: 'demo', messages: [{ role: 'user', content: 'Hello!' }] },
        },
      },
      answers: { 200: { description: 'The explanation.', schema: 'Explanation' } },
    }),
  },
  '/admin/providers/{name}/check': {
    post: manage('Operation', {
      summary: 'Send a small request to a provider, once with each credential',
      body: { schema: 'ProviderCheck', example: { model: 'demo' }, optional: true },
      answers: {
        200: { description: 'What each request has shown.', schema: 'CheckedProvider' },
      },
    }),
  },
  '/admin/config': {
    get: manage('Configuration', {
      summary: 'Show the configuration file',
      answers: { 200: { description: 'The file and its hash.', schema: 'ConfigFile' } },
    }),
    put: manage('Configuration', {
      summary: 'Replace the configuration file',
      parameters: [
        {
          name: 'if-match',
          in: 'header',
          required: true,
          description: 'The hash that the file must have, in quotes.',
          schema: { type: 'string' },
        },
      ],
      body: { schema: 'text', example: 'log_format = "json"\n' },
      answers: done,
      alsoErrors: [412],
    }),
  },
  '/admin/settings': {
    get: manage('Configuration', {
      summary: 'Show the settings in force, with credentials masked',
      parameters: [
        query('effective', 'Whether to list defaults too.', { enum: ['true', 'false'] }),
      ],
      answers: { 200: { description: 'The settings.', schema: 'Settings' } },
    }),
  },
  '/admin/cache': {
    delete: manage('Operation', {
      summary: 'Empty the cache',
      answers: { 200: { description: 'How many answers it held.', schema: 'ClearedCache' } },
    }),
  },
  '/admin/provider-keys/{name}': {
    put: manage('Configuration', {
      summary: 'Store the key of a provider',
      body: { schema: 'ProviderKey', example: { key: 'the-key-of-the-vendor' } },
      answers: done,
    }),
    delete: manage('Configuration', {
      summary: 'Delete the stored key of a provider',
      answers: done,
    }),
  },
  '/admin/webhooks': {
    get: manage('Configuration', {
      summary: 'Show the settings of webhooks',
      answers: { 200: { description: 'The settings.', schema: 'WebhookState' } },
    }),
    put: manage('Configuration', {
      summary: 'Store the settings of webhooks and turn them on',
      body: { schema: 'WebhookSettings', example: { url: 'https://hooks.example.com/gateway' } },
      answers: { 200: { description: 'The settings.', schema: 'WebhookState' } },
    }),
    delete: manage('Configuration', { summary: 'Turn webhooks off', answers: done }),
  },
  '/admin/webhooks/signing-key': {
    put: manage('Configuration', {
      summary: 'Store the key that signs webhooks',
      body: { schema: 'SigningKey', example: { secret: 'a-long-random-text' } },
      answers: done,
    }),
    delete: manage('Configuration', {
      summary: 'Delete the stored signing key',
      answers: done,
    }),
  },
}
