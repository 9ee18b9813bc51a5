"use strict";
(() => {
  // src/static_fallback.js
  var MEDIA_TYPE = "application/vnd.paimon-explore.widget+json";
  var WIDGET = "application/vnd.jupyter.widget-view+json";
  var HTML = "text/html";
  var NOTE = "Saved rendering. Run the cell to explore the table.";
  var RANK = -20;
  var PATIENCE_MS = 500;
  function addStaticFallback(registry, Panel) {
    class LiveOrStatic extends Panel {
      /** @param {MimeModel} model */
      async renderModel(model) {
        this.stop();
        for (const widget of [...this.widgets]) widget.dispose();
        const live = registry.createRenderer(WIDGET);
        live.hide();
        this.addWidget(live);
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
          if (!live.node.childElementCount) return;
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
      stop() {
      }
      dispose() {
        this.stop();
        super.dispose();
      }
    }
    registry.addFactory(
      { safe: false, mimeTypes: [MEDIA_TYPE], createRenderer: () => new LiveOrStatic() },
      RANK
    );
  }

  // src/labextension.js
  var NAME = "paimon-explore";
  var FILE_TYPE = "paimon-metadata";
  var FACTORY = "Paimon file";
  var PATTERN = "^((snapshot|schema|changelog)-\\d+|tag-[^.]+|(index-)?manifest-(list-)?[0-9a-f]{8}-[0-9a-f-]{27}[^.]*|index-[0-9a-f]{8}-[0-9a-f-]{27}-\\d+|stats?-[0-9a-f]{8}-[0-9a-f-]{27}.*|.+\\.(orc|parquet)\\.index)$";
  var scope = {};
  async function shared(name) {
    const versions = Object.values(scope[name] ?? {});
    if (!versions.length) throw new Error(`JupyterLab does not provide the module ${name}.`);
    return (await versions[0].get())();
  }
  var RemoteFile = class {
    /** @type {Map<string, Set<(...args: any[]) => void>>} */
    #listeners = new Map();
    /**
     * @param {(url: string) => Promise<Response>} fetch
     * @param {string} address  of the server's endpoint
     * @param {string} path  of the file, from the server's root
     */
    constructor(fetch, address, path) {
      this.fetch = fetch;
      this.address = address;
      this.path = path;
    }
    /** @param {string} name */
    get(name) {
      return name === "height" ? "fill" : void 0;
    }
    /**
     * @param {string} event
     * @param {(...args: any[]) => void} callback
     */
    on(event, callback) {
      const known = this.#listeners.get(event) ?? new Set();
      this.#listeners.set(event, known.add(callback));
    }
    /**
     * @param {string} event
     * @param {(...args: any[]) => void} callback
     */
    off(event, callback) {
      this.#listeners.get(event)?.delete(callback);
    }
    /** @param {{id: number}} message */
    async send(message) {
      const query = new URLSearchParams({ path: this.path, message: JSON.stringify(message) });
      let content;
      let buffers = [];
      try {
        const response = await this.fetch(`${this.address}/api?${query}`);
        if (!response.ok) throw new Error(`The server answered with HTTP status ${response.status}.`);
        content = await response.json();
        if (content.data) {
          const bytes = Uint8Array.from(atob(content.data), (letter) => letter.charCodeAt(0));
          buffers = [new DataView(bytes.buffer)];
        }
      } catch (error) {
        const failure = { kind: "error", message: String(error) };
        content = { id: message.id, ok: false, error: failure };
      }
      for (const callback of this.#listeners.get("msg:custom") ?? []) callback(content, buffers);
    }
  };
  async function activate(app) {
    const [{ ABCWidgetFactory, DocumentWidget }, { Panel, Widget }, { ServerConnection }] = await Promise.all([
      shared("@jupyterlab/docregistry"),
      shared("@lumino/widgets"),
      shared("@jupyterlab/services")
    ]);
    const { spreadsheetIcon } = await shared("@jupyterlab/ui-components");
    const settings = app.serviceManager.serverSettings;
    const address = `${settings.baseUrl}${NAME}`;
    const fetch = (url) => ServerConnection.makeRequest(url, {}, settings);
    class FileView extends Widget {
      /** @param {string} path */
      constructor(path) {
        super();
        this.addClass("paimon-explore-file");
        this.node.style.height = "100%";
        this.node.style.minHeight = "0";
        this.open(path);
      }
      /** @param {string} path */
      async open(path) {
        const { default: view } = await import(
          /* webpackIgnore: true */
          `${address}/bytes.js`
        );
        if (this.isDisposed) return;
        const model = new RemoteFile(fetch, address, path);
        this.close_ = view.render({ model, el: this.node });
        for (const child of this.node.children) {
          if (child instanceof HTMLElement && child.tagName === "DIV") child.style.border = "0";
        }
      }
      dispose() {
        this.close_?.();
        super.dispose();
      }
    }
    class Factory extends ABCWidgetFactory {
      /** @param {any} context */
      createNewWidget(context) {
        const path = app.serviceManager.contents.localPath(context.path);
        return new DocumentWidget({ content: new FileView(path), context });
      }
    }
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel) => addStaticFallback(panel.content.rendermime, Panel)
    });
    document.addEventListener("paimon-explore-open", (event) => {
      const command = "notebook:create-output-view";
      const notebook = app.shell.currentWidget?.content;
      const cells = notebook?.widgets ?? [];
      const index = cells.findIndex(({ node }) => node?.contains(event.target));
      if (index < 0 || !app.commands.hasCommand(command)) return;
      notebook.activeCellIndex = index;
      app.commands.execute(command);
      event.preventDefault();
    });
    app.docRegistry.addFileType({
      name: FILE_TYPE,
      displayName: "Paimon metadata",
      pattern: PATTERN,
      extensions: [],
      mimeTypes: ["application/octet-stream"],
      contentType: "file",
      fileFormat: "base64",
      icon: spreadsheetIcon
    });
    const Made = Factory;
    app.docRegistry.addWidgetFactory(
      new Made({
        name: FACTORY,
        modelName: "base64",
        fileTypes: [FILE_TYPE],
        defaultFor: [FILE_TYPE],
        readOnly: true
      })
    );
  }
  var plugin = { id: `${NAME}:files`, autoStart: true, activate };
  var container = {
    /** @param {Scope} given */
    init(given) {
      scope = given;
    },
    /** @param {string} module */
    async get(module) {
      if (module !== "./extension") throw new Error(`The extension ${NAME} has no module ${module}.`);
      return () => ({ __esModule: true, default: plugin });
    }
  };
  var page = window;
  page._JUPYTERLAB ??= {};
  page._JUPYTERLAB[NAME] = container;
})();
