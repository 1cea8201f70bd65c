import { formatWhole } from './format.ts'
import { linkTo } from './place.ts'

interface Tab {
  readonly id: string
  readonly title: string
  /** How much the part has; not shown when it is undefined. */
  readonly count?: number
}

interface TabsProps {
  /** The view that is divided. */
  readonly view: string
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly current: string
}

/** Links to the parts of a view. Each has an address of its own; that of the first is the view's. */
export function Tabs({ view, label, tabs, current }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, title, count }, at) => (
        <a
          key={id}
          href={linkTo(view, { tab: at === 0 ? undefined : id })}
          aria-current={id === current ? 'page' : undefined}
        >
          {title}
          {count !== undefined && <span class="faint"> {formatWhole(count)}</span>}
        </a>
      ))}
    </nav>
  )
}
