// @ts-check
/**
 * The static rendering of a widget whose model does not exist, as in a notebook that was opened again.
 *
 * JupyterLab prefers the media type of widgets to HTML, and its renderer shows an error if the kernel
 * has no such model. Outputs of this package also have a media type of their own. Its renderer
 * delegates to the one of widgets, and shows the HTML until that one shows a view.
 */

/** In `widget_base.py`, too. */
export const MEDIA_TYPE = "application/vnd.paimon-explore.widget+json";
const WIDGET = "application/vnd.jupyter.widget-view+json";
const HTML = "text/html";
const NOTE = "Saved rendering. Run the cell to explore the table.";
/** Preferred to widgets, whose rank is -10. */
const RANK = -20;
/** How long a view may take to appear before the HTML is shown in its place. */
const PATIENCE_MS = 500;

/** @typedef {{data: Record<string, unknown>, metadata: Record<string, unknown>}} MimeModel */
/** @typedef {{node: HTMLElement, dispose: () => void, renderModel: (model: MimeModel) => Promise<void>, hide: () => void, show: () => void}} Renderer */
/**
 * The renderers of a notebook.
 * @typedef {{
 *   addFactory: (factory: object, rank: number) => void,
 *   createRenderer: (type: string) => Renderer,
 * }} Registry
 */

/**
 * Adds the renderer to a notebook.
 * @param {Registry} registry
 * @param {new () => any} Panel  of Lumino
 */
export function addStaticFallback(registry, Panel) {
  class LiveOrStatic extends Panel {
    /** @param {MimeModel} model */
    async renderModel(model) {
      this.stop();
      for (const widget of [...this.widgets]) widget.dispose();
      const live = registry.createRenderer(WIDGET);
      live.hide();
      this.addWidget(live);
      /** @type {Renderer | undefined} */
      let still;
      const showStatic = () => {
        still = registry.createRenderer(HTML);
        this.addWidget(still);
        still.renderModel(model).then(() => {
          const note = document.createElement("p");
          note.className = "paimon-explore-saved";
          note.textContent = NOTE;
          still?.node.prepend(note);
        });
      };
      const timer = setTimeout(showStatic, PATIENCE_MS);
      const observer = new MutationObserver(() => {
        if (!live.node.childElementCount) return; // a text: that it loads, or an error
        this.stop();
        still?.dispose();
        live.show();
      });
      observer.observe(live.node, { childList: true });
      this.stop = () => {
        clearTimeout(timer);
        observer.disconnect();
      };
      await live.renderModel(model);
    }

    stop() {}

    dispose() {
      this.stop();
      super.dispose();
    }
  }

  registry.addFactory(
    { safe: false, mimeTypes: [MEDIA_TYPE], createRenderer: () => new LiveOrStatic() },
    RANK,
  );
}
