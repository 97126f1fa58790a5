import { Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import '@mantine/spotlight/styles.css'
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { useApi } from '../session/environment-api.tsx'
import { pages } from './pages.ts'

/** Opens any page from the keyboard, with Ctrl+K or ⌘K. */
export function Palette(): ReactElement {
  const navigate = useNavigate()
  const { environment } = useApi()
  const actions: SpotlightActionData[] = pages.map(({ to, label, text }) => ({
    id: to,
    label,
    description: text,
    onClick: () => {
      void navigate({ to, params: { environment } })
    },
  }))
  return (
    <Spotlight
      actions={actions}
      nothingFound="No page has this name."
      highlightQuery
      searchProps={{ placeholder: 'Open a page', 'aria-label': 'Open a page' }}
    />
  )
}
