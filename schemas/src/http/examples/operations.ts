import { alertExamples } from './alerts.ts'
import { couponExamples } from './coupons.ts'
import { catalogExamples } from './catalog.ts'
import { consoleListExamples } from './console-lists.ts'
import { consoleExamples } from './console.ts'
import { creditScheduleExamples } from './credit-schedules.ts'
import { creditExamples } from './credits.ts'
import { customerAuthExamples } from './customer-auth.ts'
import { customerExamples } from './customers.ts'
import { emailExamples } from './emails.ts'
import type { OperationExamples } from './example.ts'
import { customerBalanceExamples } from './customer-balances.ts'
import { invoiceExamples } from './invoices.ts'
import { mcpExamples } from './mcp.ts'
import { meterExamples } from './meters.ts'
import { paymentExamples } from './payments.ts'
import { planMigrationExamples } from './plan-migrations.ts'
import { previewExamples } from './previews.ts'
import { providerExamples } from './provider.ts'
import { purchaseExamples } from './purchases.ts'
import { testClockExamples } from './test-clocks.ts'
import { taxExamples } from './taxes.ts'
import { usageCorrectionExamples } from './usage-corrections.ts'
import { usageExamples } from './usage.ts'
import { webhookExamples } from './webhooks.ts'

/** Examples by operation id of the API description, which includes them. Every operation with a JSON response has some. */
export const operationExamples: Readonly<Record<string, OperationExamples>> = {
  ...usageExamples,
  ...usageCorrectionExamples,
  ...alertExamples,
  ...couponExamples,
  ...testClockExamples,
  ...customerExamples,
  ...creditExamples,
  ...creditScheduleExamples,
  ...catalogExamples,
  ...purchaseExamples,
  ...invoiceExamples,
  ...taxExamples,
  ...customerBalanceExamples,
  ...previewExamples,
  ...planMigrationExamples,
  ...paymentExamples,
  ...meterExamples,
  ...mcpExamples,
  ...customerAuthExamples,
  ...providerExamples,
  ...consoleExamples,
  ...consoleListExamples,
  ...webhookExamples,
  ...emailExamples,
}
