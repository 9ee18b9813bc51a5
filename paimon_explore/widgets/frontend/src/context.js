// @ts-check
/** What every pane gets; a new view is one more tab of `GROUPS` in Python. */

/** @import {History} from "./snapshot_columns.js" */
/** @import {FileLifetimes} from "./file_lifetimes.js" */
/** @import {Colours} from "./theme.js" */
/** @import {Channel, Failure} from "./channel.js" */
/** @import {State} from "./selection_store.js" */

/**
 * What may change: a part of the state, or the files of the history, or the history itself.
 * @typedef {keyof State | "lifetimes" | "covered" | "mask" | "theme" | "history" | "fresh"} Change
 */

/**
 * @typedef {object} Store
 * @property {() => State} get
 * @property {(patch: Partial<State>) => void} set
 */

/** @typedef {{up: ArrayLike<number>, down: ArrayLike<number>, peak: number}} Bars */

/**
 * @typedef {object} LivesState
 * @property {FileLifetimes | undefined} lifetimes
 * @property {number} frame  Python's number of the frame the rows belong to
 * @property {number} first  first position whose files are known
 * @property {number} last  last position whose files are known
 * @property {number} covered  snapshots read so far
 * @property {Failure | undefined} failure
 * @property {Set<number>} unknown  positions whose manifests cannot be read
 * @property {boolean} grouped  whether rows are groups of files
 * @property {boolean} narrowed  whether only files that passed the filter are here
 */

/**
 * What Python knows to help with: an example input for each tab, and terms with what they mean.
 * @typedef {{examples: Record<string, string>, terms: [name: string, meaning: string, names: string[]][]}} Hints
 */

/**
 * @typedef {object} Context
 * @property {Store} store
 * @property {History} history
 * @property {Channel} channel
 * @property {() => Bars} bars
 * @property {() => ReturnType<FileLifetimes["changes"]> | undefined} changes
 * @property {() => LivesState} files
 * @property {() => Uint8Array | undefined} mask  rows that pass the filter
 * @property {() => Failure | undefined} filterFailure
 * @property {() => Colours} colours
 * @property {(position: number) => void} moveTo
 * @property {(by: number) => void} step
 * @property {(text: string) => Promise<boolean>} goTo
 * @property {(failure: Failure) => void} report
 * @property {() => Promise<any>} refresh  asks for new snapshots; what Python said of them
 * @property {(id: string) => void} act  does what `ACTS` of keyboard.js names
 * @property {() => void} focusView  gives the keyboard to the open view
 * @property {(changed: Set<Change>) => void} tell
 * @property {Groups} groups
 * @property {string} prefix  for ids of elements
 * @property {HTMLElement} root  of the whole explorer
 * @property {(request: Record<string, unknown>) => boolean} offers  whether a request has an answer; a saved page has few
 * @property {() => Promise<Hints>} hints
 */

/**
 * @typedef {object} Pane
 * @property {HTMLElement} element
 * @property {(changed: Set<Change>) => void} update
 * @property {() => void} focus
 * @property {() => void} [dispose]
 */

/**
 * @typedef {object} PaneKind
 * @property {(context: Context) => Pane} create
 * @property {string} [bundle]  that a saved page may lack; its tab is not offered then
 */

/**
 * The groups of tabs with their titles; the id of a tab is a value of the trait `tab`.
 * @typedef {readonly (readonly [title: string, tabs: readonly (readonly [id: string, title: string])[]])[]} Groups
 */

export {};
