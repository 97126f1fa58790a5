import { Code, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { formatAmount } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { Section } from '../parts/section.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { CreatePlan } from './create-plan.tsx'
import { periodPriceOf } from './period-price.ts'
import type { Plan } from './plan.ts'
import { EditProduct } from './product-forms.tsx'

const route = getRouteApi('/$environment/products/$productRef')

/** Shows one product with its plans. */
export function ProductPage(): ReactElement {
  const { hooks, environment } = useApi()
  const { productRef } = route.useParams()
  const { data } = hooks.useSuspenseQuery('get', '/v1/sdk/products/{productRef}', {
    params: { path: { productRef } },
  })
  return (
    <Stack>
      <PageHead
        title={data.name}
        text={
          <>
            <StatusBadge status={data.status} /> <Code>{data.reference}</Code> · since{' '}
            <Time instant={data.createdAt} isDay /> ·{' '}
            <PageLink
              underline="always"
              to="/$environment/purchases"
              params={{ environment }}
              search={{ product: productRef }}
            >
              Purchases
            </PageLink>
            {data.description !== undefined && <div>{data.description}</div>}
          </>
        }
        actions={<EditProduct product={data} />}
      />
      <Section title="Plans" actions={<CreatePlan productRef={productRef} />}>
        <Plans productRef={productRef} plans={data.plans ?? []} />
      </Section>
    </Stack>
  )
}

type Row = Pick<
  Plan,
  | 'reference'
  | 'name'
  | 'type'
  | 'status'
  | 'price'
  | 'basePrice'
  | 'currency'
  | 'billingCycle'
  | 'default'
> & { readonly charges?: readonly unknown[] }

function Plans(props: {
  readonly productRef: string
  readonly plans: readonly Row[]
}): ReactElement {
  const { productRef, plans } = props
  const { environment } = useApi()
  if (plans.length === 0) {
    return <Empty title="No plans yet">Create one. Customers buy a product by its plans.</Empty>
  }
  const name: Column<Row> = {
    label: 'Name',
    cell: ({ reference, name: text }) => (
      <PageLink
        to="/$environment/products/$productRef/plans/$planRef"
        params={{ environment, productRef, planRef: reference }}
      >
        {text}
      </PageLink>
    ),
  }
  return (
    <RowsTable
      label="Plans"
      columns={[name, ...columns]}
      rows={plans}
      keyOf={({ reference }) => reference}
    />
  )
}

const columns: readonly Column<Row>[] = [
  { label: 'Type', cell: ({ type }) => type },
  { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Price',
    cell: (plan) => {
      const { currency, billingCycle } = plan
      const price = formatAmount(periodPriceOf(plan), currency)
      return `${price}${billingCycle === undefined ? '' : ` ${billingCycle}`}`
    },
    isNumber: true,
  },
  {
    label: 'Charges',
    cell: ({ charges = [] }) => (charges.length === 0 ? '' : String(charges.length)),
    isNumber: true,
  },
  { label: 'Default', cell: (plan) => (plan.default ? 'New customers get it' : '') },
]
