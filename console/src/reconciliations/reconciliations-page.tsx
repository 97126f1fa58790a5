import { Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatCount, formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Paged, pageQuery } from '../parts/paged.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'

type Report = Answer<'listReconciliations'>['reconciliations'][number]

const route = getRouteApi('/$environment/reconciliations')

/** Shows the reports that compare data with its sources, newest first. */
export function ReconciliationsPage(): ReactElement {
  const { hooks } = useApi()
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/reconciliations', {
    params: { query: pageQuery(page) },
  })
  return (
    <Stack>
      <PageHead
        title="Reconciliations"
        text={`${formatNumberOf(data.total, 'report')}: counters, wallets, invoices and payments, compared with their sources.`}
      />
      <Paged
        page={page}
        total={data.total}
        onPage={(next) => {
          void navigate({ search: { page: next } })
        }}
        empty={
          <Empty title="No reports yet">
            A report is made every night. The operator of the installation can make one at any time.
          </Empty>
        }
      >
        <RowsTable
          label="Reconciliations"
          columns={columns}
          rows={data.reconciliations}
          keyOf={({ reference }) => reference}
        />
      </Paged>
    </Stack>
  )
}

function ReportLink({ reference, finishedAt }: Report): ReactElement {
  const { environment } = useApi()
  return (
    <PageLink
      to="/$environment/reconciliations/$reconciliationRef"
      params={{ environment, reconciliationRef: reference }}
    >
      <Time instant={finishedAt} />
    </PageLink>
  )
}

const columns: readonly Column<Report>[] = [
  { label: 'Finished', cell: ReportLink },
  {
    label: 'Compared',
    cell: ({ compared }) =>
      Object.entries(compared).map(([kind, count]) => (
        <div key={kind}>
          {kind.replaceAll('_', ' ')}: {formatCount(count)}
        </div>
      )),
  },
  {
    label: 'Not compared',
    cell: ({ gaps }) => gaps.map(({ kind }) => <div key={kind}>{kind.replaceAll('_', ' ')}</div>),
  },
  { label: 'Differences', cell: ({ found }) => formatCount(found), isNumber: true },
  { label: 'Repaired', cell: ({ repaired }) => formatCount(repaired), isNumber: true },
]
