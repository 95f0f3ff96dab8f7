/** The type of a translation: the same keys as the English texts, other words. */
export type Same<T> = { readonly [K in keyof T]: T[K] extends string ? string : Same<T[K]> }
