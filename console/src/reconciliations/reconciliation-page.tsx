import { Code, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatCount, formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { Section } from '../parts/section.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'

type Finding = Answer<'getReconciliation'>['findings'][number]

const route = getRouteApi('/$environment/reconciliations/$reconciliationRef')

/** Shows one report: what was compared, and each difference. */
export function ReconciliationPage(): ReactElement {
  const { hooks } = useApi()
  const { reconciliationRef } = route.useParams()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/reconciliations/{reconciliationRef}', {
    params: { path: { reconciliationRef } },
  })
  return (
    <Stack>
      <PageHead title="Reconciliation" text={<Code>{data.reference}</Code>} />
      <Section title="Compared">
        <Facts
          facts={[
            { label: 'Finished', value: <Time instant={data.finishedAt} /> },
            { label: 'From', value: <Time instant={data.comparedFrom} /> },
            { label: 'To', value: <Time instant={data.comparedTo} /> },
            ...Object.entries(data.compared).map(([kind, count]) => ({
              label: kind.replaceAll('_', ' '),
              value: formatCount(count),
            })),
            ...data.gaps.map(({ kind, reason }) => ({
              label: `Not compared: ${kind.replaceAll('_', ' ')}`,
              value: reason,
            })),
          ]}
        />
      </Section>
      <Section title={formatNumberOf(data.found, 'difference')}>
        {data.findings.length === 0 ? (
          <Empty title="Everything agrees">Nothing has to be done.</Empty>
        ) : (
          <RowsTable
            label="Differences"
            columns={columns}
            rows={data.findings}
            keyOf={({ kind, reference }) => `${kind} ${reference}`}
          />
        )}
      </Section>
    </Stack>
  )
}

const differences: Readonly<Record<Finding['difference'], string>> = {
  missing_here: 'Missing here',
  missing_there: 'Missing there',
  differs: 'Differs',
}

const columns: readonly Column<Finding>[] = [
  { label: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { label: 'Reference', cell: ({ reference }) => <Code>{reference}</Code> },
  { label: 'Difference', cell: ({ difference }) => differences[difference] },
  { label: 'Here', cell: ({ ours }) => ours ?? '' },
  { label: 'There', cell: ({ theirs }) => theirs ?? '' },
  { label: 'Since', cell: ({ since }) => <Time instant={since} /> },
  { label: 'Repaired', cell: ({ repaired }) => (repaired ? 'Yes' : 'No') },
]
