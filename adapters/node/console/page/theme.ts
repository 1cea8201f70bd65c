import { signal } from '@preact/signals'

/** `system` follows the setting of the operating system. */
export type Theme = 'system' | 'light' | 'dark'

const themes: readonly Theme[] = ['system', 'light', 'dark']
const storageName = 'theme'

export const theme = signal<Theme>(readTheme())

/** Counts the changes of the colors in force, so that charts draw themselves again. */
export const colorChanges = signal(0)

/** Applies the theme to the page, now and after each change. */
export function applyTheme(): void {
  theme.subscribe((chosen) => {
    if (chosen === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = chosen
    localStorage.setItem(storageName, chosen)
    colorChanges.value++
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => colorChanges.value++)
}

export function changeTheme(): void {
  const next = (themes.indexOf(theme.value) + 1) % themes.length
  theme.value = themes[next] ?? 'system'
}

function readTheme(): Theme {
  const stored = localStorage.getItem(storageName)
  return themes.find((name) => name === stored) ?? 'system'
}
