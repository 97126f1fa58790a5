/*
 * Every bound of the wire, by name and unit, with its reason. What is longer, larger or deeper is refused with 400.
 */

/** Characters of a postal address, line feeds included. */
export const addressCharsMax = 500

/** Lines of a postal address. */
export const addressLinesMax = 6

/** References, meter names and idempotency keys: they become keys in the log, LMDB and ClickHouse, and LMDB keys end at 1978 bytes. */
export const referenceCharsMax = 256

/** Names and short texts that are shown to people. */
export const nameCharsMax = 512

/** Descriptions, error messages, URLs: long enough for a stack trace, short enough for a record of the log. */
export const textCharsMax = 16_384

/** RFC 5321 allows 254; addresses that clients make up of a user id of 256 characters must fit too. */
export const emailCharsMax = 320

/** Addresses that we call: what browsers and servers agree on. */
export const urlCharsMax = 2_048

/** A free-form object as JSON text: a bulk request of 1000 records must stay a bounded batch of the log. */
export const jsonObjectBytesMax = 16_384

/** Levels of a free-form object, itself being the first: keeps every recursive walk over it short. */
export const jsonObjectDepthMax = 8

/** Keys on the first level of a free-form object: each may become a column path of an analyst's query. */
export const jsonObjectKeysMax = 64

/** Items of an array that we define, such as the pricing options of a plan. */
export const listItemsMax = 100

/** Units of one usage record; asserted by clients. */
export const usageUnitsMax = 100_000

/** Seconds a reservation may be held, whatever a service is configured to: a call that takes longer is a job. */
export const reservationSecondsMax = 86_400

/** Records of one bulk request; asserted by clients for usages. */
export const bulkRecordsMax = 1000

/** How far back an event may be dated: periods older than this may have been billed. */
export const timestampPastMsMax = 30 * 24 * 3600 * 1000

/** How far ahead an event may be dated: client clocks drift, and zones get confused. */
export const timestampFutureMsMax = 24 * 3600 * 1000

/** Absolute value of one record, in whole units: in 10^-6 units it still is a safe integer (9e15 < 2^53). */
export const quantityMax = 9_000_000_000

/** Amounts in minor units and unit counts of plans: far above any price, far below 2^53. */
export const amountMinorMax = 1_000_000_000_000

/** Rows of one page of a list. */
export const pageItemsMax = 100

/** Rows that a list may skip. */
export const pageOffsetMax = 10_000_000

/** Issues told in one validation error: a bulk of 1000 bad items must not answer with megabytes. */
export const reportedIssuesMax = 100

/** Days of a trial, of a custom cycle or until access expires: ten years. */
export const daysMax = 3660

/** Credits of one unit, and users of one plan: far above any use, far below 2^53. */
export const countMax = 1_000_000_000

/** Credits of one grant: a hundred million dollars. */
export const grantCreditsMax = 1_000_000_000_000

/** How far the priority of a grant may be from 0, either way. */
export const grantPriorityMax = 1_000

/** Tools of one MCP server: each has a meter, and all meters of a provider are one document of the hot state. */
export const mcpToolsMax = 500

/** The MCP specification's own bound. */
export const mcpToolNameCharsMax = 128

/** Characters of a new password: NIST SP 800-63B asks for at least 8; with one factor alone a little more is due. */
export const passwordCharsMin = 10

/** Hashing a password reads all of it. */
export const passwordCharsMax = 256

/** Minor units of one top-up, as clients know them. */
export const topUpMinorMin = 100
export const topUpMinorMax = 10_000_000

/** Characters of an `Idempotency-Key` header. */
export const idempotencyKeyCharsMax = 256
