import { Code, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { PageHead } from '../parts/page-head.tsx'
import { Section } from '../parts/section.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { CustomerInvoices } from './customer-invoices.tsx'
import { CustomerPurchases } from './customer-purchases.tsx'
import { CustomerUsage } from './customer-usage.tsx'
import { CustomerWallet } from './customer-wallet.tsx'
import { GrantCredits } from './grant-credits.tsx'
import { PortalLink } from './portal-link.tsx'

const route = getRouteApi('/$environment/customers/$customerRef')

/** Shows one customer: usage, purchases, credits and invoices. */
export function CustomerPage(): ReactElement {
  const { hooks } = useApi()
  const { customerRef } = route.useParams()
  const params = { path: { reference: customerRef } }
  const { data } = hooks.useSuspenseQuery('get', '/v1/sdk/customers/{reference}', { params })
  const { reference, name, email, created } = data
  return (
    <Stack>
      <PageHead
        title={name === '' ? email : name}
        text={
          <>
            {email} · <Code>{reference}</Code> · since <Time instant={created} isDay />
          </>
        }
        actions={
          <>
            <GrantCredits customerRef={reference} />
            <PortalLink customerRef={reference} />
          </>
        }
      />
      <Section title="Usage of the last 30 days">
        <CustomerUsage customerRef={reference} />
      </Section>
      <Section title="Purchases">
        <CustomerPurchases customerRef={reference} />
      </Section>
      <Section title="Credits">
        <CustomerWallet customerRef={reference} />
      </Section>
      <Section title="Invoices">
        <CustomerInvoices customerRef={reference} />
      </Section>
    </Stack>
  )
}
