import { Group, SegmentedControl, Skeleton, Stack } from '@mantine/core'
import { lazy, Suspense, useState, type ReactElement, type ReactNode } from 'react'
import type { ChartProps } from './charts.tsx'

/** The library of charts is as large as the rest of the page, so it loads with the first chart. */
const LazyChart = lazy(async () => ({ default: (await import('./charts.tsx')).Chart }))

export type View = 'chart' | 'table'

/** Shows values as a chart or as a table, and offers the query that returns them. */
export function ChartOrTable(props: {
  readonly chart: ChartProps
  readonly table: ReactNode
  /** Buttons that copy the query of the values. */
  readonly copies: ReactNode
  /** The view, if the page keeps it. Otherwise it is kept here. */
  readonly view?: { readonly value: View; readonly onChange: (view: View) => void }
}): ReactElement {
  const { chart, table, copies } = props
  const [ownView, setOwnView] = useState<View>('chart')
  const { value, onChange } = props.view ?? { value: ownView, onChange: setOwnView }
  return (
    <Stack gap="xs">
      <Group justify="flex-end" gap="xs">
        {copies}
        <SegmentedControl
          size="xs"
          aria-label={`View of ${chart.name}`}
          value={value}
          onChange={onChange}
          data={[
            { value: 'chart', label: 'Chart' },
            { value: 'table', label: 'Table' },
          ]}
        />
      </Group>
      {value === 'chart' ? (
        <Suspense fallback={<Skeleton h={240} />}>
          <LazyChart {...chart} />
        </Suspense>
      ) : (
        table
      )}
    </Stack>
  )
}
