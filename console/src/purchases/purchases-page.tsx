import { NativeSelect, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { purchaseFilters } from '../parts/list-search.ts'
import { PageHead } from '../parts/page-head.tsx'
import { Paged, pageQuery } from '../parts/paged.tsx'
import { ShownFilter } from '../parts/shown-filter.tsx'
import { useApi } from '../session/environment-api.tsx'
import { PurchaseTable } from './purchase-table.tsx'

const route = getRouteApi('/$environment/purchases')

/** Shows all purchases, newest first. */
export function PurchasesPage(): ReactElement {
  const { hooks } = useApi()
  const { page = 1, status, product, plan } = route.useSearch()
  const navigate = route.useNavigate()
  const query = {
    ...pageQuery(page),
    ...(status === undefined ? {} : { status }),
    ...(product === undefined ? {} : { productRef: product }),
    ...(plan === undefined ? {} : { planRef: plan }),
  }
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/purchases', { params: { query } })
  const only = plan === undefined ? product : plan
  return (
    <Stack>
      <PageHead title="Purchases" text={formatNumberOf(data.total, 'purchase')} />
      <NativeSelect
        label="Status"
        maw={240}
        value={status ?? ''}
        onChange={(event) => {
          const chosen = purchaseFilters.find((each) => each === event.currentTarget.value)
          void navigate({
            search: ({ page: _, status: __, ...rest }) =>
              chosen === undefined ? rest : { ...rest, status: chosen },
          })
        }}
        data={[
          { value: '', label: 'All' },
          ...purchaseFilters.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
        ]}
      />
      {only !== undefined && (
        <ShownFilter
          text={`Only purchases of the ${plan === undefined ? 'product' : 'plan'} ${only}`}
          onClear={() => {
            void navigate({ search: ({ page: _, product: __, plan: ___, ...rest }) => rest })
          }}
        />
      )}
      <Paged
        page={page}
        total={data.total}
        onPage={(next) => {
          void navigate({ search: (given) => ({ ...given, page: next }) })
        }}
        empty={
          <Empty title="No such purchases">
            A purchase begins when a customer pays at a checkout, or when you activate a plan by the
            API.
          </Empty>
        }
      >
        <PurchaseTable purchases={data.purchases} />
      </Paged>
    </Stack>
  )
}
