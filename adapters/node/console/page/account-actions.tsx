import type { ComponentChildren } from 'preact'
import type { Open } from './account-dialogs.tsx'
import type { Noun } from './account-form.tsx'
import { Menu } from './menu.tsx'
import type { Key, Subject } from './shapes.ts'

interface Props {
  readonly noun: Noun
  readonly subject: Key | Subject
  readonly open: Open
  /** To the views that show more of it. */
  readonly links: ComponentChildren
  /** What can be done with it besides. */
  readonly children?: ComponentChildren
}

/** What can be done with a key or a group. */
export function AccountActions({ noun, subject, open, links, children }: Props) {
  const start = (dialog: 'edit' | 'grant' | 'delete') => () => open({ dialog, noun, subject })
  return (
    <td class="actions">
      <button type="button" class="ghost" onClick={start('edit')}>
        Edit<span class="visually-hidden"> {subject.name}</span>
      </button>
      <Menu label={`Actions for ${subject.name}`}>
        {links}
        {subject.budget_max !== null && (
          <button type="button" onClick={start('grant')}>
            Grant…
          </button>
        )}
        {children}
        <button type="button" class="danger" onClick={start('delete')}>
          Delete…
        </button>
      </Menu>
    </td>
  )
}
