import { Stack, Text } from '@mantine/core'
import type { ReactElement } from 'react'
import { formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { PurchaseTable } from '../purchases/purchase-table.tsx'
import { useApi } from '../session/environment-api.tsx'

const shownMax = 50

/** Shows the purchases of the customer, newest first. */
export function CustomerPurchases({ customerRef }: { readonly customerRef: string }): ReactElement {
  const { hooks } = useApi()
  const query = { customerRef, limit: shownMax }
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/purchases', { params: { query } })
  if (data.purchases.length === 0) {
    return (
      <Empty title="No purchases yet">
        A purchase begins when the customer pays at a checkout, or when you activate a plan by the
        API.
      </Empty>
    )
  }
  return (
    <Stack gap="xs">
      <PurchaseTable purchases={data.purchases} isOfOneCustomer />
      {data.total > shownMax && (
        <Text size="sm" c="dimmed">
          The newest {shownMax} of {formatNumberOf(data.total, 'purchase')}.
        </Text>
      )}
    </Stack>
  )
}
