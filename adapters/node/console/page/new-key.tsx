import { change } from './api.ts'
import { Dialog } from './dialog.tsx'
import type { KeyWithSecret } from './shapes.ts'
import { groups, readAccounts } from './state.ts'

interface NewKeyProps {
  readonly close: () => void
  readonly show: (created: KeyWithSecret) => void
}

/** Creates a key. An empty field is no limit. */
export function NewKey({ close, show }: NewKeyProps) {
  const submit = async (form: FormData) => {
    show(await change('POST', '/admin/keys', toFields(form)))
    await readAccounts()
  }
  return (
    <Dialog title="New key" action="Create key" submit={submit} close={close} isFollowed>
      <label>
        Name
        <input name="name" required maxLength={200} autofocus autocomplete="off" />
      </label>
      <div class="fields">
        <label>
          Budget in US dollars
          <input name="budget_max" type="number" min="0" step="any" placeholder="no cap" />
        </label>
        <label>
          The budget resets each
          <select name="budget_period">
            <option value="">never</option>
            <option>day</option>
            <option>week</option>
            <option>month</option>
          </select>
        </label>
        <label>
          Requests per minute
          <input name="rpm_limit" type="number" min="0" step="1" placeholder="no limit" />
        </label>
        <label>
          Tokens per minute
          <input name="tpm_limit" type="number" min="0" step="1" placeholder="no limit" />
        </label>
        <label>
          Requests at once
          <input name="max_parallel" type="number" min="0" step="1" placeholder="no limit" />
        </label>
        <label>
          Group
          <select name="group_id">
            <option value="">none</option>
            {groups.value.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <label>
        Models
        <input name="models" placeholder="all; or for example gpt-*, claude-opus" />
      </label>
    </Dialog>
  )
}

const numbers = ['budget_max', 'rpm_limit', 'tpm_limit', 'max_parallel']
const texts = ['name', 'budget_period', 'group_id']

/** Returns the fields of the admin API, without those that were left empty. */
function toFields(form: FormData): Record<string, unknown> {
  const filled = (name: string) => String(form.get(name) ?? '').trim()
  const models = filled('models')
    .split(/[\s,]+/)
    .filter((model) => model !== '')
  return {
    ...Object.fromEntries(texts.flatMap((name) => (filled(name) ? [[name, filled(name)]] : []))),
    ...Object.fromEntries(
      numbers.flatMap((name) => (filled(name) ? [[name, Number(filled(name))]] : [])),
    ),
    ...(models.length > 0 && { models }),
  }
}
