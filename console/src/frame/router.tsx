import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { environmentNamed } from '@tollgate/schemas/environment'
import { auditSearch } from '../audit/audit-search.ts'
import { consolePath } from '../api/addresses.ts'
import { Boundary, Loading } from '../parts/boundary.tsx'
import { homeSearch } from '../home/home-search.ts'
import { EnvironmentProvider } from '../session/environment-api.tsx'
import { invoicesSearch, listSearch, purchasesSearch } from '../parts/list-search.ts'
import { explorerSearch } from '../usage/explorer-search.ts'
import { deliveriesSearch } from '../webhooks/webhook-search.ts'
import { NoPage, PageFailure } from './page-failure.tsx'
import { Shell } from './shell.tsx'

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NoPage })

const firstRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    redirect({ to: '/$environment', params: { environment: 'sandbox' }, throw: true })
  },
})

const environmentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '$environment',
  beforeLoad: ({ params }) => {
    if (environmentNamed(params.environment) === undefined) notFound({ throw: true })
  },
  component: EnvironmentPages,
})

function EnvironmentPages(): ReactElement {
  const { environment } = environmentRoute.useParams()
  return (
    <EnvironmentProvider environment={environmentNamed(environment) ?? 'sandbox'}>
      <Boundary key={environment}>
        <Shell />
      </Boundary>
    </EnvironmentProvider>
  )
}

const homeRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: '/',
  validateSearch: homeSearch,
  component: lazyRouteComponent(() => import('../home/home-page.tsx'), 'HomePage'),
})

const usageRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'usage',
  validateSearch: explorerSearch,
  component: lazyRouteComponent(() => import('../usage/explorer-page.tsx'), 'ExplorerPage'),
})

const customersRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'customers',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../customers/customers-page.tsx'), 'CustomersPage'),
})

const customerRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'customers/$customerRef',
  component: lazyRouteComponent(() => import('../customers/customer-page.tsx'), 'CustomerPage'),
})

const productsRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'products',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../products/products-page.tsx'), 'ProductsPage'),
})

const productRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'products/$productRef',
  component: lazyRouteComponent(() => import('../products/product-page.tsx'), 'ProductPage'),
})

const planRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'products/$productRef/plans/$planRef',
  component: lazyRouteComponent(() => import('../products/plan-page.tsx'), 'PlanPage'),
})

const purchasesRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'purchases',
  validateSearch: purchasesSearch,
  component: lazyRouteComponent(() => import('../purchases/purchases-page.tsx'), 'PurchasesPage'),
})

const invoicesRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'invoices',
  validateSearch: invoicesSearch,
  component: lazyRouteComponent(() => import('../invoices/invoices-page.tsx'), 'InvoicesPage'),
})

const invoiceRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'invoices/$invoiceRef',
  component: lazyRouteComponent(() => import('../invoices/invoice-page.tsx'), 'InvoicePage'),
})

const webhooksRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'webhooks',
  component: lazyRouteComponent(() => import('../webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})

const endpointRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'webhooks/$endpointId',
  validateSearch: deliveriesSearch,
  component: lazyRouteComponent(() => import('../webhooks/endpoint-page.tsx'), 'EndpointPage'),
})

const deliveryRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('../webhooks/delivery-page.tsx'), 'DeliveryPage'),
})

const auditRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../audit/audit-page.tsx'), 'AuditPage'),
})

const membersRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'members',
  component: lazyRouteComponent(() => import('../members/members-page.tsx'), 'MembersPage'),
})

const reconciliationsRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'reconciliations',
  validateSearch: listSearch,
  component: lazyRouteComponent(
    () => import('../reconciliations/reconciliations-page.tsx'),
    'ReconciliationsPage',
  ),
})

const reconciliationRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'reconciliations/$reconciliationRef',
  component: lazyRouteComponent(
    () => import('../reconciliations/reconciliation-page.tsx'),
    'ReconciliationPage',
  ),
})

const keysRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: 'keys',
  component: lazyRouteComponent(() => import('../keys/keys-page.tsx'), 'KeysPage'),
})

const routeTree = rootRoute.addChildren([
  firstRoute,
  environmentRoute.addChildren([
    homeRoute,
    usageRoute,
    customersRoute,
    customerRoute,
    purchasesRoute,
    productsRoute,
    productRoute,
    planRoute,
    invoicesRoute,
    invoiceRoute,
    webhooksRoute,
    endpointRoute,
    deliveryRoute,
    keysRoute,
    membersRoute,
    auditRoute,
    reconciliationsRoute,
    reconciliationRoute,
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: consolePath,
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailure,
  defaultNotFoundComponent: NoPage,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
