import { Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import { Boundary } from '../parts/boundary.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { ExplorerControls } from './explorer-controls.tsx'
import { ExplorerResults } from './explorer-results.tsx'
import { explorerQuery, type ExplorerSearch } from './explorer-search.ts'

const route = getRouteApi('/$environment/usage')

/** Shows usage of meters over time, in groups, and compared with the time before. */
export function ExplorerPage(): ReactElement {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: ExplorerSearch): void => {
    void navigate({ search: next, replace: true })
  }
  // The range ends with the day on which the page was opened.
  const [openedMs] = useState(() => Date.now())
  const query = explorerQuery(search, openedMs)
  return (
    <Stack>
      <PageHead
        title="Usage"
        text={`Days are those of ${search.zone}. The address has the query, so it can be shared.`}
      />
      <ExplorerControls search={search} onChange={change} />
      {/* A refused query must not hide the answer to the next one. */}
      <Boundary key={JSON.stringify(query)}>
        <ExplorerResults
          query={query}
          view={search.view ?? 'chart'}
          onView={(view) => {
            const { view: _, ...rest } = search
            change(view === 'table' ? { ...rest, view } : rest)
          }}
        />
      </Boundary>
    </Stack>
  )
}
