(() => {
	const luminance = (c) => {
		const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const parse = (color) => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = color;
		canvas.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
		return { rgb: [r, g, b], alpha: a / 255 };
	};
	const over = (top, below) => top.rgb.map((v, i) => v * top.alpha + below[i] * (1 - top.alpha));
	const background = (e) => {
		const layers = [];
		for (; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
		return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
	};
	const poor = new Set();
	for (const e of document.querySelectorAll(".vp-doc *, .VPSidebar *, .VPNavBar *")) {
		if (e instanceof SVGElement || !e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
		if (![...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && /[\p{L}\p{N}]/u.test(n.data))) continue;
		const below = background(e);
		const text = over(parse(getComputedStyle(e).color), below);
		const [dim, bright] = [luminance(text), luminance(below)].sort((a, b) => a - b);
		const ratio = (bright + 0.05) / (dim + 0.05);
		if (ratio < 4.5) poor.add(`${ratio.toFixed(1)} ${e.tagName}.${e.className}: ${e.textContent.slice(0, 40)}`);
	}
	return [...poor].slice(0, 20);
})()
