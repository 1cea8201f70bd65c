import { ModelField } from './model-field.tsx'
import { splitModels } from './model-lists.ts'
import type { Key, Subject } from './shapes.ts'
import { groups } from './state.ts'

/** What an account is called in the paths of the admin API. */
export type Noun = 'keys' | 'groups'

interface FieldsProps {
  readonly noun: Noun
  /** The key or group that is changed; undefined for a new one. */
  readonly subject?: Key | Subject | undefined
}

const periods = ['day', 'week', 'month']
const priorities = ['high', 'normal', 'low']

/**
 * The fields of a key or a group. An empty one is no limit. The values are only the first ones: the page
 * renders again while the user types.
 */
export function AccountFields({ noun, subject }: FieldsProps) {
  return (
    <>
      <label>
        Name
        <input
          name="name"
          required
          maxLength={200}
          autofocus
          autocomplete="off"
          defaultValue={subject?.name}
        />
      </label>
      <div class="fields">
        <label>
          Budget in US dollars
          <input
            name="budget_max"
            type="number"
            min="0"
            step="any"
            placeholder="no cap"
            defaultValue={subject?.budget_max ?? undefined}
          />
        </label>
        <label>
          The budget resets each
          <select name="budget_period">
            <option value="">never</option>
            {periods.map((period) => (
              <option key={period} selected={period === subject?.budget_period}>
                {period}
              </option>
            ))}
          </select>
        </label>
        <Limit name="rpm_limit" label="Requests per minute" value={subject?.rpm_limit} />
        <Limit name="tpm_limit" label="Tokens per minute" value={subject?.tpm_limit} />
        <Limit name="max_parallel" label="Requests at once" value={subject?.max_parallel} />
        <label>
          Priority while upstreams are full
          <select name="priority">
            <option value="">{noun === 'keys' ? 'of its group' : 'normal'}</option>
            {priorities.map((priority) => (
              <option key={priority} selected={priority === subject?.priority}>
                {priority}
              </option>
            ))}
          </select>
        </label>
        {noun === 'keys' && <KeyFields subject={subject as Key | undefined} />}
      </div>
      <ModelField value={subject?.models?.join(', ')} />
    </>
  )
}

interface LimitProps {
  readonly name: string
  readonly label: string
  readonly value: number | null | undefined
}

function Limit({ name, label, value }: LimitProps) {
  return (
    <label>
      {label}
      <input
        name={name}
        type="number"
        min="0"
        step="1"
        placeholder="no limit"
        defaultValue={value ?? undefined}
      />
    </label>
  )
}

/** The fields that only keys have. */
function KeyFields({ subject }: { readonly subject: Key | undefined }) {
  const { group_id: group = null, expires_at: expiresAt = null } = subject ?? {}
  return (
    <>
      <GroupChoice chosen={group} />
      <label>
        Expires
        <input
          name="expires_at"
          type="datetime-local"
          // In seconds, so that saving another field does not move the time.
          step="1"
          // A key that has expired may keep its time.
          min={toLocalTime(Math.min(expiresAt ?? Number.POSITIVE_INFINITY, Date.now() / 1000))}
          defaultValue={expiresAt === null ? undefined : toLocalTime(expiresAt)}
        />
        <span class="hint">in the time of this browser; empty for never</span>
      </label>
    </>
  )
}

/** Writes unix seconds as the field of a local time does. */
function toLocalTime(seconds: number): string {
  const date = new Date(seconds * 1000)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

function GroupChoice({ chosen }: { readonly chosen: string | null }) {
  return (
    <label>
      Group
      <select name="group_id">
        <option value="">none</option>
        {groups.value.map(({ id, name }) => (
          <option key={id} value={id} selected={id === chosen}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Returns the fields of the admin API; null where a field was left empty. */
export function readAccount(form: FormData): Record<string, unknown> {
  const entries = Array.from(form, ([name, value]) => [
    name,
    parseField(name, String(value).trim()),
  ])
  return Object.fromEntries(entries)
}

function parseField(name: string, text: string): unknown {
  if (text === '') return null
  if (name === 'models') return splitModels(text)
  if (name === 'expires_at') return Math.floor(new Date(text).getTime() / 1000)
  return texts.has(name) ? text : Number(text)
}

const texts = new Set(['name', 'budget_period', 'priority', 'group_id'])
