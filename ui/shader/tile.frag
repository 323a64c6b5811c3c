uniform vec2 frame;
uniform vec4 bounds;

uniform sampler2D picture;
uniform sampler2D mask;
uniform sampler2D table;
uniform float pictureWidth, pictureHeight, maskWidth, maskHeight, tableWidth;
uniform float swapped, black, outlines, marked, inks, changed;
uniform float red, green, blue, opacity;

// The texel at a whole position, 0 to 255. The small offset keeps a driver that rounds the weights of its linear
// interpolation down from mixing in the texel before it.
vec4 texel(sampler2D from, vec2 at, vec2 size) {
	return floor(texture2D(from, (at + 0.5 + 1.0 / 1024.0) / size) * 255.0 + 0.5);
}

// Position in the picture, weight of the next one, position in the mask, and whether a line of the grid begins.
vec4 place(float at, float row) {
	vec4 t = texel(table, vec2(at, row), vec2(tableWidth, 2.0));
	float line = floor(t.a / 64.0);
	float high = t.a - 64.0 * line;
	float maskHigh = floor(high / 8.0);
	return vec4(t.r + 256.0 * (high - 8.0 * maskHigh), t.g, t.b + 256.0 * maskHigh, line);
}

// The value of the mask; a texel has four of a row.
float mark(float across, float down) {
	vec2 at = swapped > 0.5 ? vec2(down, across) : vec2(across, down);
	if (max(at.x, at.y) > 2046.5) {
		return 0.0;
	}
	float column = floor(at.x / 4.0);
	vec4 four = texel(mask, vec2(column, at.y), vec2(maskWidth, maskHeight));
	float which = at.x - 4.0 * column;
	return which < 1.5 ? (which < 0.5 ? four.r : four.g) : (which < 2.5 ? four.b : four.a);
}

float inside(float across, float down) {
	return step(127.5, mark(across, down));
}

// The colour of a number in the overlay of two masks.
vec3 inkOf(float number) {
	if (changed > 0.5) {
		return number > 2.5 ? CHANGED3 : number > 1.5 ? CHANGED2 : CHANGED1;
	}
	return number > 2.5 ? COMPARED3 : number > 1.5 ? COMPARED2 : COMPARED1;
}

vec3 blend(vec3 a, vec3 b, float weight) {
	return floor((a * (256.0 - weight) + b * weight + 128.0) / 256.0);
}

vec3 contrast(vec3 colour) {
	return colour.g < 127.5 ? vec3(255.0) : vec3(0.0);
}

void main() {
	float x = floor(gl_FragCoord.x - bounds[0]);
	float y = floor(frame.y - bounds[1] - gl_FragCoord.y);
	if (x < 0.0 || y < 0.0 || x > bounds[2] - bounds[0] - 0.5 || y > bounds[3] - bounds[1] - 0.5) {
		discard;
	}
	vec4 across = place(x + 1.0, 0.0);
	vec4 down = place(y + 1.0, 1.0);
	vec4 column = swapped > 0.5 ? down : across;
	vec4 row = swapped > 0.5 ? across : down;

	vec3 colour = vec3(0.0);
	if (black < 0.5) {
		vec2 size = vec2(pictureWidth, pictureHeight);
		vec2 at = vec2(column.x, row.x);
		colour = texel(picture, at, size).rgb;
		if (row.y + column.y > 0.5) {
			vec3 left = blend(colour, texel(picture, at + vec2(0.0, 1.0), size).rgb, row.y);
			vec3 right = blend(texel(picture, at + vec2(1.0, 0.0), size).rgb,
				texel(picture, at + vec2(1.0), size).rgb, row.y);
			colour = blend(left, right, column.y);
		}
	}

	if (marked > 0.5) {
		vec3 ink = vec3(red, green, blue);
		if (outlines < 0.5) {
			float m = mark(across.z, down.z);
			if (inks > 0.5) {
				ink = inkOf(m);
				m = m > 0.5 ? 255.0 : 0.0;
			}
			colour = blend(colour, ink, floor(opacity * m * (256.0 / 255.0) + 0.5));
		} else if (inside(across.z, down.z) > 0.5 &&
			inside(place(x, 0.0).z, down.z) * inside(place(x + 2.0, 0.0).z, down.z) *
			inside(across.z, place(y, 1.0).z) * inside(across.z, place(y + 2.0, 1.0).z) < 0.5) {
			vec3 apart = abs(colour - ink);
			colour = apart.r + apart.g + apart.b < ALIKE ? contrast(colour) : ink;
		}
	}

	if (across.w + down.w > 0.5) {
		colour = blend(colour, contrast(colour), GRID);
	}
	gl_FragColor = vec4(colour / 255.0, 1.0);
}
