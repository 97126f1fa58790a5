/* All bounds of the API with their units and reasons. A request that exceeds one is refused with 400. */

/** Characters of a postal address, including line feeds. */
export const addressCharsMax = 500

/** Lines of a postal address. */
export const addressLinesMax = 6

/**
 * Characters of references, meter names and idempotency keys. They become keys in the log, LMDB and ClickHouse, and LMDB keys have
 * at most 1978 bytes.
 */
export const referenceCharsMax = 256

/** Characters of names and short texts that are displayed. */
export const nameCharsMax = 512

/** Characters of descriptions, error messages and links: long enough for a stack trace, short enough for a record of the log. */
export const textCharsMax = 16_384

/**
 * Characters of an email address. RFC 5321 allows 254, but addresses that clients derive from a user id of 256 characters must fit
 * too.
 */
export const emailCharsMax = 320

/** Characters of URLs that Tollgate calls, as browsers and servers usually allow. */
export const urlCharsMax = 2_048

/** Bytes of a free-form object as JSON text, so that a bulk request of 1000 records stays a bounded batch of the log. */
export const jsonObjectBytesMax = 16_384

/** Levels of a free-form object, including itself, so that every recursive function is bounded. */
export const jsonObjectDepthMax = 8

/** Keys on the first level of a free-form object, since each may become a column path in a query. */
export const jsonObjectKeysMax = 64

/** Items of an array that the API defines, such as the pricing options of a plan. */
export const listItemsMax = 100

/** Points of one price curve. */
export const pricePointsMax = 100

/** Further usage that is priced at each point of a price curve. */
export const pricedBesideMax = 10

/** Units of one usage record. Clients rely on this value. */
export const usageUnitsMax = 100_000

/** Seconds for which a reservation may be held, whatever a service is configured to. Calls that take longer should be jobs. */
export const reservationSecondsMax = 86_400

/** Records of one bulk request. Clients rely on this value for usages. */
export const bulkRecordsMax = 1000

/** Milliseconds that a timestamp may be in the past. Earlier periods may already be billed. */
export const timestampPastMsMax = 30 * 24 * 3600 * 1000

/**
 * Milliseconds that the usage of a correction or a backfill may be in the past: 13 calendar months, of which a leap year and January
 * have the most days. A year of bills and the month of their audit can so be put right.
 */
export const correctionPastMsMax = 397 * 24 * 3600 * 1000

/** Corrections of one request. */
export const correctionsPerRequestMax = 100

/** Milliseconds that a timestamp may be in the future, since client clocks drift and time zones get confused. */
export const timestampFutureMsMax = 24 * 3600 * 1000

/** Absolute value of one record in whole units. In 10^-6 units it is still a safe integer (9e15 < 2^53). */
export const quantityMax = 9_000_000_000

/** Amounts in minor units and unit counts of plans: far above any price, far below 2^53. */
export const amountMinorMax = 1_000_000_000_000

/** Rows on one page of a list. */
export const pageItemsMax = 100

/** Rows that a list may skip. */
export const pageOffsetMax = 10_000_000

/** Issues in one validation error, so that a bulk of 1000 invalid items does not cause a response of megabytes. */
export const reportedIssuesMax = 100

/** Days of a trial, of a custom cycle or until access expires: 10 years. */
export const daysMax = 3660

/** Purchases or customers that one migration of a plan names. */
export const migrationFilterMax = 1_000

/** Days of notice before a change of terms. */
export const noticeDaysMax = 365

/** Days for which a change of plan can be scheduled ahead: 2 years. */
export const scheduledDaysMax = 732

/** Credits of one unit, and users of one plan: far above any use, far below 2^53. */
export const countMax = 1_000_000_000

/** Credits of one grant, which is 100 million US dollars. */
export const grantCreditsMax = 1_000_000_000_000

/** Maximum number of days, weeks or months between two grants of a schedule. */
export const scheduleIntervalMax = 366

/** Maximum number of grants that a schedule is limited to. */
export const scheduledGrantsMax = 100_000

/** Maximum number of days after which a grant of a schedule expires. */
export const scheduleExpiryDaysMax = 3_660

/** Schedules of credits of one customer that have not ended. */
export const creditSchedulesMax = 50

/** Maximum absolute value of the priority of a grant. */
export const grantPriorityMax = 1_000

/** Tools of one MCP server. Each has a meter, and all meters of a provider are one document of the hot state. */
export const mcpToolsMax = 500

/** The bound of the MCP specification. */
export const mcpToolNameCharsMax = 128

/** Minimum characters of a new password. NIST SP 800-63B requires at least 8; a single factor should be a little longer. */
export const passwordCharsMin = 10

/** Maximum characters of a password, since hashing reads all of them. */
export const passwordCharsMax = 256

/** Minor units of one top-up, as clients expect them. */
export const topUpMinorMin = 100
export const topUpMinorMax = 10_000_000

/** Characters of an `Idempotency-Key` header. */
export const idempotencyKeyCharsMax = 256

/** Charges of one plan. Each is a counter that limit checks may read. */
export const chargesMax = 20

/** Characters of the key of a charge. */
export const chargeKeyCharsMax = 64

/** Properties that one meter declares as dimensions, and pointers that it adds. */
export const propertiesMax = 8

/** Active meters that read one type of event. Each matching meter is a row of the stored record. */
export const metersPerEventTypeMax = 50

/** Active meters of a provider that read events, of any type. Ingest loads all of them as one document. */
export const readingMetersMax = 500

/** Characters of what these meters read as JSON text, all together. */
export const meterReadingsCharsMax = 1_048_576

/** Dimensions by which one usage query groups. */
export const groupDimensionsMax = 3

/** Groups of one usage query. */
export const usageGroupsMax = 1_000

/** Maximum number of meters in one answer of the usage explorer. */
export const exploredMetersMax = 10

/** Groups that one usage query names. The others are one group. */
export const usageTopMax = 1_000

/** Characters of the filter of a usage query. It is part of an address, and proxies allow about 8,000. */
export const usageFilterCharsMax = 6_000

/** Values that one filter of a meter compares. */
export const filterValuesMax = 100

/** Characters of the value of a dimension. */
export const dimensionCharsMax = 256

/** Limits of one plan in addition to the caps of its charges. */
export const usageLimitsMax = 20

/** Seconds of a rolling window: 1 minute to 31 days. */
export const rollingSecondsMin = 60
export const rollingSecondsMax = 31 * 86_400

/** Seconds from the creation of a reservation to its expiry, however often it is extended, whatever a service is configured to. */
export const reservationLifetimeSecondsMax = 604_800

/** Reservations of one request. Hot state makes them in one step, during which it does nothing else. */
export const reservationsPerRequestMax = 100

/** Meters on which one reservation holds units. */
export const heldMetersMax = 20

/** Characters of all charges of a plan as JSON text. They are part of the document that every call of a customer reads. */
export const chargesCharsMax = 65_536

/**
 * Changes that are kept of a customer's overrides of a product. Each reading of its purchases reads them, because a period is billed
 * by the overrides that it began with.
 */
export const overrideVersionsMax = 200

/** Limits that a customer has in addition to those of a plan. Hot state keeps at most 32 windows of time for one purchase. */
export const overrideLimitsMax = 10

/** Agreed prices of one customer and product, and their characters as JSON text. Every reading of a purchase reads all versions. */
export const agreedPricesMax = 20
export const agreedPricesCharsMax = 16_384

/** Steps of a ramp, and billing periods of a step. */
export const rampStepsMax = 24
export const rampPeriodsMax = 600

/** Packs with units left that a customer can have of one product. Each limit check reads all of them. */
export const openPacksMax = 100
/** Thresholds of one alert, and alerts of one provider that are not of one customer. Each check of a customer reads the latter. */
export const alertThresholdsMax = 20
export const sharedAlertsMax = 500

/** Percent of a threshold. Usage exceeds included units, and caps only as far as calls overlap. */
export const alertPercentMax = 1_000
/** Own prices of models that a meter of model costs may have. */
export const modelPricesMax = 100

/** Test clocks of one provider, and customers of one clock. Each advance works through the customers together. */
export const testClocksMax = 20
export const testClockCustomersMax = 100

/**
 * Milliseconds by which a new test clock is ahead of real time, at least and at most. A clock is deleted `testClockSpareMs` before real
 * time reaches it, which is longer than usage may be dated in the future.
 */
export const testClockAheadMsMin = 3 * 86_400_000
export const testClockAheadMsMax = 20 * 366 * 86_400_000
export const testClockSpareMs = 2 * 86_400_000

/**
 * Milliseconds by which usage is dated after it was received at least, if it is known by that to be of a customer on a test clock.
 * Ingest refuses usage in real time that is dated so far ahead.
 */
export const testClockUsageAheadMs = timestampFutureMsMax + 3_600_000

/** Milliseconds by which one advance moves a test clock. */
export const testClockAdvanceMsMax = 2 * 366 * 86_400_000

/** Maximum length of the code of a coupon. */
export const couponCodeCharsMax = 64

/** Maximum number of products or plans that a coupon names. */
export const couponScopeMax = 100

/** Maximum limit on the redemptions of a coupon. */
export const redemptionsMax = 1_000_000_000

/** Maximum number of a customer's discounts that are listed, newest first. */
export const listedDiscountsMax = 1_000

/** Maximum number of units of a line that a person adds to an invoice. Its amount then stays an exact JSON number. */
export const itemUnitsMax = 1_000

/** Maximum quantity of one add-on of a purchase, and maximum number of its different add-ons. */
export const addOnQuantityMax = 10_000
export const attachedAddOnsMax = 50

/** Maximum number of plans and of raises of an add-on, and of units of a raise. */
export const addOnPlansMax = 100
export const addOnRaisesMax = 10
export const addOnUnitsMax = 1_000_000_000

/** Maximum number of add-ons of a product that the portal lists, newest first. */
export const listedAddOnsMax = 100
