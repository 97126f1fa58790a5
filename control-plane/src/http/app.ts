import type { IncomingMessage, ServerResponse } from 'node:http'
import { continueInTurn } from '@tollgate/platform/service/interim-answers'
import Fastify, { LogController, type FastifyBaseLogger, type FastifySchemaCompiler } from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { parseQuery } from '@tollgate/schemas/http/parse-query'
import type { RequestSeconds, UnknownNames } from '../metrics.ts'
import type { ApiServer } from '../access/api-server.ts'
import type { AppParts } from './app-parts.ts'
import { createCustomerAuth } from '../customer-auth/customer-auth.ts'
import { registerCustomerAuth } from '../customer-auth/register-customer-auth.ts'
import { createNotFoundPage } from '../pages/provider/not-found-page.ts'
import { createIssuerProblemPage } from '../pages/sign-in/issuer-problem-page.tsx'
import { registerPages } from '../pages/register-pages.ts'
import { basePathOf, registerStaticFiles } from '../pages/static-files.ts'
import { registerReference } from '../reference/register-reference.ts'
import { closeConnectionsAtStop } from './close-connections.ts'
import { dataPlanePaths } from './data-plane-paths.ts'
import { registerConsoleAliases } from './console-aliases.ts'
import { installAllowedMethods } from './plugins/allowed-methods.ts'
import { installAuthentication } from './plugins/authentication.ts'
import { installBodyParser } from './plugins/body-parser.ts'
import { installCustomerTime } from './plugins/customer-time.ts'
import { sendUnrouted, installErrorHandler } from './plugins/error-handler.ts'
import { createRequestIdReader, installRequestId } from './plugins/request-id.ts'
import { installRequestMetrics } from './plugins/request-metrics.ts'
import { installTracing } from './plugins/tracing.ts'
import { installUnknownNames } from './plugins/unknown-names.ts'
import { registerAlertRoutes } from './routes/alerts.ts'
import { registerApiKeyRoutes } from './routes/api-keys.ts'
import { registerActivationRoute } from './routes/activation.ts'
import { installApiDescription, registerApiDescriptionRoute } from './routes/api-description.ts'
import { registerAuditLogRoute } from './routes/audit-log.ts'
import { registerAutoRechargeRoutes } from './routes/auto-recharge.ts'
import { registerConsoleAuthRoutes } from './routes/console-auth.ts'
import {
  registerAnswerCliSessionRoutes,
  registerOpenCliSessionRoutes,
} from './routes/cli-sessions.ts'
import { registerBackfillRoute } from './routes/backfills.ts'
import { registerBillingRunRoutes } from './routes/billing-runs.ts'
import { registerEventRoutes } from './routes/console-events.ts'
import { registerConsoleListRoutes } from './routes/console-lists.ts'
import { registerConsoleUsageRoutes } from './routes/console-usage.ts'
import { registerOverviewRoute } from './routes/overview.ts'
import { registerUsageExplorerRoute } from './routes/usage-explorer.ts'
import { registerCustomerBalanceRoutes } from './routes/customer-balance.ts'
import { registerCustomerMarginRoute } from './routes/customer-margin.ts'
import { registerConsoleUserRoutes } from './routes/console-users.ts'
import { registerSignInRoutes } from './routes/console-sign-in.ts'
import { registerCreditAdjustmentRoute } from './routes/credit-adjustments.ts'
import { registerCreditHoldsRoute } from './routes/credit-holds.ts'
import { registerCustomerOwnersRoute } from './routes/customer-owners.ts'
import { registerCreditScheduleRoutes } from './routes/credit-schedules.ts'
import { registerCreditRoutes } from './routes/credits.ts'
import { registerCustomerLinkRoutes } from './routes/customer-links.ts'
import { registerCustomerRoutes } from './routes/customers.ts'
import { registerEmailSettingsRoutes } from './routes/email-settings.ts'
import { registerEmailRoutes } from './routes/emails.ts'
import { registerExchangeRateRoutes } from './routes/exchange-rates.ts'
import { registerInvoiceDecisionRoutes } from './routes/invoice-decisions.ts'
import { registerAddOnRoutes } from './routes/add-ons.ts'
import { registerPurchaseAddOnRoutes } from './routes/purchase-add-ons.ts'
import { registerCouponRoutes } from './routes/coupons.ts'
import { registerDiscountRoutes } from './routes/discounts.ts'
import { registerInvoiceItemRoutes } from './routes/invoice-items.ts'
import { registerInvoiceRoutes } from './routes/invoices.ts'
import { registerLimitRoutes } from './routes/limits.ts'
import { registerReservationRoutes } from './routes/reservations.ts'
import { registerMcpRoutes } from './routes/mcp.ts'
import { registerMerchantRoutes } from './routes/merchant.ts'
import { registerMeterUsageRoutes } from './routes/meter-usage.ts'
import { registerMeterRoutes } from './routes/meters.ts'
import { registerOverrideRoutes } from './routes/overrides.ts'
import { registerOwnKeyRoutes } from './routes/own-key.ts'
import { registerPaymentIntentRoutes } from './routes/payment-intents.ts'
import { registerPaymentMethodRoute } from './routes/payment-method.ts'
import { registerPlanMigrationRoutes } from './routes/plan-migrations.ts'
import { registerPlanRoutes } from './routes/plans.ts'
import { registerPlanPreviewRoute, registerPreviewRoutes } from './routes/previews.ts'
import { registerPricePreviewRoutes } from './routes/price-preview.ts'
import { registerBudgetRoutes } from './routes/budgets.ts'
import { registerBusinessDetailsRoute } from './routes/business-details.ts'
import { registerProcessPaymentRoute } from './routes/process-payment.ts'
import { registerProcessorWebhookRoutes } from './routes/processor-webhooks.ts'
import { registerProductRoutes } from './routes/products.ts'
import { registerAssetUploadRoute, registerPublicAssetRoutes } from './routes/provider-assets.ts'
import { registerScheduledChangeRoutes } from './routes/scheduled-changes.ts'
import { registerPurchaseChangeRoutes } from './routes/purchase-changes.ts'
import { registerPurchaseRoutes } from './routes/purchases.ts'
import { registerRechargeStartRoute } from './routes/recharge-starts.ts'
import { registerReconciliationRoutes } from './routes/reconciliations.ts'
import { registerSessionRoutes } from './routes/sessions.ts'
import { registerTestClockRoutes } from './routes/test-clocks.ts'
import { registerTaxDetailsRoutes } from './routes/tax-details.ts'
import { registerTaxServiceRoutes } from './routes/tax-service.ts'
import { registerUsageCorrectionRoutes } from './routes/usage-corrections.ts'
import { registerUserInfoRoutes } from './routes/user-info.ts'
import { registerWebhookCatalogueRoutes } from './routes/webhook-catalogue.ts'
import { registerWebhookDeliveryRoutes } from './routes/webhook-deliveries.ts'
import { registerWebhookEndpointRoutes } from './routes/webhook-endpoints.ts'
import { registerWebhookReplayRoutes } from './routes/webhook-replays.ts'
import { registerWebhookTestRoute } from './routes/webhook-tests.ts'
import type { z } from 'zod'
import { validationIssues } from '@tollgate/schemas/http/validation-error'
import { InvalidRequestError } from '../errors.ts'

export type HttpLimits = {
  readonly bodyBytesMax: number
  readonly requestTimeoutMs: number
  readonly idleConnectionMs: number
  /** Proxies whose forwarded headers are trusted, separated by commas. */
  readonly trustedProxies: string
}

/** References may be the provider's own user ids, and percent-encoding may turn a character into 3 bytes or more. */
const pathParameterCharsMax = 4096

/**
 * How often node:http checks for clients that send too slowly, in milliseconds. A slow request can exceed its limit by this time.
 */
const slowClientCheckMs = 1_000

/** Creates the complete API. The server does not listen yet. */
export async function buildApp(
  parts: AppParts,
  limits: HttpLimits,
  requestSeconds: RequestSeconds,
  unknownNames: UnknownNames,
): Promise<ApiServer> {
  const app = createServer(limits, parts.logger)
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueInTurn(request, response)
    app.server.emit('request', request, response)
  })
  closeConnectionsAtStop(app)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  installRequestId(app)
  if (parts.tracing !== undefined) installTracing(app, parts.tracing)
  installBodyParser(app)
  const postPaths = Object.keys(dataPlanePaths())
  installErrorHandler(app, parts.clock, {
    allowedMethods: installAllowedMethods(app, pathParameterCharsMax, postPaths),
    notFoundPage: createNotFoundPage(parts.hostedUrl),
  })
  installUnknownNames(app, unknownNames)
  installRequestMetrics(app, requestSeconds)
  await installApiDescription(app)
  registerApiDescriptionRoute(app)
  registerPublicAssetRoutes(app, parts.publisher.database)
  const customerAuth = createCustomerAuth(parts, createIssuerProblemPage(parts.hostedUrl))
  const basePath = basePathOf(parts.hostedUrl)
  const files = registerStaticFiles(app, basePath)
  registerReference(app, { hostedUrl: parts.hostedUrl, basePath, files })
  await registerPages(app, { ...parts, basePath, files }, customerAuth)
  registerCustomerAuth(app, parts, customerAuth)
  await registerProcessorWebhookRoutes(app, parts)
  registerSignInRoutes(app, parts)
  registerOpenCliSessionRoutes(app, parts)
  if (parts.folderSecret !== undefined) {
    registerCreditHoldsRoute(app, parts, parts.folderSecret)
  }
  if (parts.serviceSecret !== undefined) {
    registerCustomerOwnersRoute(app, parts.publisher.database, parts.serviceSecret)
  }
  await app.register((instance, _options, done) => {
    const authenticated = instance.withTypeProvider<ZodTypeProvider>()
    const { clock, serviceSecret } = parts
    const { database } = parts.publisher
    installAuthentication(authenticated, { database, clock, serviceSecret })
    installCustomerTime(authenticated, parts)
    registerResources(authenticated, parts)
    registerCustomerLinkRoutes(authenticated, parts, customerAuth)
    done()
  })
  return app
}

/** Creates a server without routes, with its limits of time and size. */
function createServer(limits: HttpLimits, logger: AppParts['logger']): ApiServer {
  const loggerInstance: FastifyBaseLogger = logger
  return Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestIdReader(),
    http: {
      connectionsCheckingInterval: slowClientCheckMs,
      // node:http applies the longer of the two timeouts to bodies. The default of `headersTimeout`, 1 minute, would override
      // `requestTimeout`.
      headersTimeout: limits.requestTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
    },
    bodyLimit: limits.bodyBytesMax,
    // Always trust loopback: ingest on the same machine forwards requests, whichever proxy is in front of it.
    trustProxy: [...limits.trustedProxies.split(',').map((each) => each.trim()), 'loopback'].filter(
      (each) => each !== '',
    ),
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleConnectionMs,
    // Longer than the data plane's proxy keeps a connection, so that the proxy never sends on a connection that was just closed.
    keepAliveTimeout: limits.idleConnectionMs,
    frameworkErrors: sendUnrouted,
    routerOptions: { maxParamLength: pathParameterCharsMax, querystringParser: parseQuery },
  }).withTypeProvider<ZodTypeProvider>()
}

function registerResources(app: ApiServer, parts: AppParts): void {
  registerConsoleAliases(app)
  registerProductRoutes(app, parts)
  registerPlanRoutes(app, parts)
  registerPricePreviewRoutes(app, parts)
  registerPlanPreviewRoute(app, parts)
  registerPlanMigrationRoutes(app, parts)
  registerAddOnRoutes(app, parts)
  registerMcpRoutes(app, parts)
  registerCustomerRoutes(app, parts)
  registerCreditRoutes(app, parts)
  registerCreditAdjustmentRoute(app, parts)
  registerCreditScheduleRoutes(app, parts)
  registerOverrideRoutes(app, parts)
  registerSessionRoutes(app, parts)
  registerPurchaseRoutes(app, parts)
  registerPurchaseChangeRoutes(app, parts)
  registerScheduledChangeRoutes(app, parts)
  registerPurchaseAddOnRoutes(app, parts)
  registerPreviewRoutes(app, parts)
  registerActivationRoute(app, parts)
  registerLimitRoutes(app, parts)
  registerUsageCorrectionRoutes(app, parts)
  registerBackfillRoute(app, parts)
  registerReservationRoutes(app, parts)
  registerUserInfoRoutes(app, parts)
  registerMeterRoutes(app, parts)
  registerAlertRoutes(app, parts)
  registerBudgetRoutes(app, parts)
  registerTestClockRoutes(app, parts)
  registerMeterUsageRoutes(app, parts)
  registerOwnKeyRoutes(app, parts)
  registerApiKeyRoutes(app, parts)
  registerConsoleAuthRoutes(app, parts)
  registerConsoleUserRoutes(app, parts)
  registerAnswerCliSessionRoutes(app, parts)
  registerConsoleListRoutes(app, parts)
  registerInvoiceRoutes(app, parts)
  registerInvoiceDecisionRoutes(app, parts)
  registerInvoiceItemRoutes(app, parts)
  registerCouponRoutes(app, parts)
  registerDiscountRoutes(app, parts)
  registerCustomerBalanceRoutes(app, parts)
  registerConsoleUsageRoutes(app, parts)
  registerUsageExplorerRoute(app, parts)
  registerOverviewRoute(app, parts)
  registerCustomerMarginRoute(app, parts)
  registerEventRoutes(app, parts)
  registerBillingRunRoutes(app, parts)
  registerReconciliationRoutes(app, parts)
  registerAuditLogRoute(app, parts)
  registerMerchantRoutes(app, parts)
  registerAssetUploadRoute(app, parts)
  registerAutoRechargeRoutes(app, parts)
  registerRechargeStartRoute(app, parts)
  registerPaymentMethodRoute(app, parts)
  registerPaymentIntentRoutes(app, parts)
  registerBusinessDetailsRoute(app, parts)
  registerTaxDetailsRoutes(app, parts)
  registerTaxServiceRoutes(app, parts)
  registerProcessPaymentRoute(app, parts)
  registerExchangeRateRoutes(app, parts)
  registerWebhookEndpointRoutes(app, parts)
  registerWebhookTestRoute(app, parts)
  registerWebhookDeliveryRoutes(app, parts)
  registerWebhookReplayRoutes(app, parts)
  registerWebhookCatalogueRoutes(app)
  registerEmailSettingsRoutes(app, parts)
  registerEmailRoutes(app, parts)
}

/** Validates parts of the request with their zod schemas and converts failures into issues of the wire contract. */
const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (input: unknown) => {
    const parsed = schema.safeParse(input)
    return parsed.success
      ? { value: parsed.data }
      : { error: new InvalidRequestError(validationIssues(parsed.error, input)) }
  }
