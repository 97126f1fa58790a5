import { SegmentedControl, Skeleton, Stack } from '@mantine/core'
import { lazy, Suspense, useState, type ReactElement } from 'react'
import { formatCount } from '../formats/amounts.ts'
import { RowsTable } from './rows-table.tsx'
import type { ChartBar } from './usage-chart.tsx'

/** The library of charts is as large as the rest of the page, so it loads with the first chart. */
const UsageChart = lazy(async () => ({ default: (await import('./usage-chart.tsx')).UsageChart }))

/** Shows values over time as a chart or as a table. */
export function BarsOverTime(props: {
  readonly name: string
  readonly bars: readonly ChartBar[]
}): ReactElement {
  const { name, bars } = props
  const [view, setView] = useState('chart')
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="View"
        value={view}
        onChange={setView}
        data={[
          { value: 'chart', label: 'Chart' },
          { value: 'table', label: 'Table' },
        ]}
        style={{ alignSelf: 'flex-end' }}
      />
      {view === 'chart' ? (
        <Suspense fallback={<Skeleton h={220} />}>
          <UsageChart name={name} bars={bars} />
        </Suspense>
      ) : (
        <RowsTable
          label={name}
          columns={[
            { label: 'Day', cell: ({ label }) => label },
            { label: name, cell: ({ value }) => formatCount(value), isNumber: true },
          ]}
          rows={bars}
          keyOf={({ label }) => label}
        />
      )}
    </Stack>
  )
}
