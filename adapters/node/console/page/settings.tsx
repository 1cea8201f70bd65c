import { useAnswer } from './answer.ts'
import { place, show } from './place.ts'
import { Problem } from './problem.tsx'
import { isFound, SearchBox } from './search-box.tsx'
import type { Setting } from './shapes.ts'

/** The settings in force, with credentials masked, and where each comes from. */
export function Settings() {
  const withDefaults = place.value.query.get('defaults') === 'true'
  const { value: known, problem } = useAnswer<{ readonly settings: readonly Setting[] }>(
    `/admin/settings?effective=${withDefaults}`,
  )
  const shown = known?.settings.filter((each) => isFound(each.setting, each.variable)) ?? []
  return (
    <section class="panel">
      <div class="section-head">
        <h2>Settings in force</h2>
        <label>
          <input
            type="checkbox"
            checked={withDefaults}
            onChange={({ currentTarget }) =>
              show({ defaults: currentTarget.checked ? 'true' : undefined })
            }
          />{' '}
          Defaults, too
        </label>
        <SearchBox placeholder="Name of a setting" />
      </div>
      <p class="hint">
        Read only; credentials are masked. What the gateway was configured with is in its file and
        its environment.
      </p>
      <Problem of="the settings" problem={problem} />
      {known && shown.length === 0 && <p class="empty">No such setting.</p>}
      {shown.length > 0 && (
        <div class="scroll">
          <table class="settings cards">
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <th scope="col">From</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ setting, value, origin, variable }) => (
                <tr key={setting}>
                  <th scope="row">
                    <code>{setting}</code>
                  </th>
                  <td class="value">
                    <code>{JSON.stringify(value)}</code>
                  </td>
                  <td class={origin === 'default' ? 'faint' : undefined}>{variable ?? origin}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
